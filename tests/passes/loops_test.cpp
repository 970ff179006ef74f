/// passes/order/loop_branches.h, passes/order/loop_limits.h and passes/instructions/prefetched_lines.h: branches before loops, loops that do not run, loops that end early, and lines that are asked for.
#include "pass_generator.h"
#include "passes/instructions/prefetched_lines.h"
#include "passes/order/loop_branches.h"
#include "passes/order/loop_limits.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::test;

TEST_CASE("a guarded loop runs only if its flag is not 0, with what is formed in it") {
    for (const int flag : {0, 1}) {
        Var x("x");
        Func wanted("wanted"), formed("formed"), total("total");
        RDom turn(0, 5, "turn");
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            wanted() = flag;
            formed(x) = cast<float>(x * x);
            total(x) = 1.0f;
            total(x) += formed(turn) + wanted(); // read, so that it is computed before
            out(x) = total(x);
            wanted.compute_root();
            total.compute_root();
            formed.compute_at(total, turn);
            total.update().reorder(x, turn);
            gyre::guard_loop(generator, "turn", wanted);
        });
        const Buffer<float> result = made.run(3);
        for (int i = 0; i < 3; i++) CHECK(result(i) == (flag ? 1.0f + 0 + 1 + 4 + 9 + 16 + 5 : 1.0f));
    }
}

TEST_CASE("of two loops of one name that of the Func that is named is guarded, and what it is guarded by is not asked "
          "for again") {
    Var x("x");
    for (const int flag : {0, 3}) {
        Func wanted("wanted"), first("first"), second("second");
        wanted() = flag;
        RDom turn(0, 5, "turn");
        turn.where(wanted() != 0);
        RDom same_turn(0, 5, "turn");
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            first(x) = 1.0f;
            first(x) += cast<float>(turn);
            second(x) = 2.0f;
            second(x) += cast<float>(same_turn);
            out(x) = first(x) + 100 * second(x);
            wanted.compute_root();
            first.compute_root().update().reorder(x, turn);
            second.compute_root().update().reorder(x, same_turn);
            gyre::guard_loop(generator, first, "turn", wanted);
        });
        const Buffer<float> result = made.run(3);
        for (int i = 0; i < 3; i++) CHECK(result(i) == (flag ? 11 : 1) + 100 * 12);
        const std::string lowered = made.lowered();
        CAPTURE(lowered);
        CHECK(count(lowered, "[0] != 0") == 1);
    }
}

TEST_CASE("a loop ends after as many turns as its outer loop's turn allows") {
    Var x("x");
    Func total("total");
    RDom r(0, 32, "r");
    RVar outer("outer"), inner("inner");
    const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
        total(x) = 0.0f;
        total(x) += cast<float>(r + 1);
        out(x) = total(x);
        total.compute_root().update().split(r, outer, inner, 8).reorder(x, inner, outer);
        gyre::end_loop_early(generator, total, "inner", "outer", [](const Expr &turn) { return 3 * turn; });
    });
    float expected = 0;
    for (const int turns : {0, 3, 6, 8}) // never more than its own 8
        for (int i = 0, first = turns == 8 ? 24 : turns / 3 * 8; i < turns; i++) expected += (float)(first + i + 1);
    const Buffer<float> result = made.run(2);
    for (int i = 0; i < 2; i++) CHECK(result(i) == expected);
}

TEST_CASE("a loop that is parted where a likely value stops to hold ends after as many turns of all its parts") {
    const int keys = 19, together = 8;
    Buffer<float> stored(keys);
    for (int i = 0; i < keys; i++) stored(i) = (float)(i + 1);
    Var x("x");
    Func total("total");
    RDom r(0, 32, "r");
    RVar outer("outer"), inner("inner");
    const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
        total(x) = 0.0f;
        total(x) += stored(min(likely(r), keys - 1)) * cast<float>(r);
        out(x) = total(x);
        total.compute_root()
            .update()
            .split(r, outer, inner, together)
            .reorder(x, inner, outer)
            .never_partition(outer, x);
        gyre::end_loop_early(generator, total, "inner", "outer", [](const Expr &turn) { return 3 * turn - 1; });
    });
    REQUIRE(count(made.lowered(), "inner.rebased, 0") == 1); // of places that are not likely
    float expected = 0;
    for (const int block : {1, 2, 3})
        for (int i = 0; i < std::min(3 * block - 1, together); i++)
            expected += stored(std::min(block * together + i, keys - 1)) * (float)(block * together + i);
    CHECK(made.run(1)(0) == expected);
}

TEST_CASE("limits of loops that are not there stop the build") {
    Var x("x");
    for (const bool guard : {true, false}) {
        Func limited("limited"), flag("flag");
        RDom r(0, 4, "r");
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            flag() = 1;
            limited(x) = 0.0f;
            limited(x) += cast<float>(r);
            out(x) = limited(x);
            limited.compute_root();
            flag.compute_root();
            if (guard)
                gyre::guard_loop(generator, "turn", flag);
            else
                gyre::end_loop_early(generator, limited, "r", "turn", [](const Expr &turn) { return turn; });
        });
        const std::string stopped = refusal([&] { made.lowered(); });
        CHECK(stopped.find(guard ? "no loop turn to limit" : "in turn to limit") != std::string::npos);
    }
}

TEST_CASE("prefetches are of neighbouring lines of 64 bytes, as many as a row has") {
    for (const Type type : {Float(32), UInt(16)}) {
        ImageParam in(type, 2, "in");
        Var x("x"), lane("lane");
        Func row("row");
        RDom r(0, 64, 0, 10, "r");
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            row(x) = 0.0f;
            row(x) += cast<float>(in(r.x, r.y));
            out(x) = row(x);
            row.compute_root()
                .update()
                .reorder(x, r.x, r.y)
                .prefetch(in.parameter(), r.y, r.y, 3, PrefetchBoundStrategy::NonFaulting);
            gyre::map_prefetches(generator);
        });
        const std::string lowered = made.lowered();
        CAPTURE(lowered);
        CHECK(count(lowered, "llvm.prefetch.p0(") == 64 * type.bytes() / 64);
        CHECK(count(lowered, "(float32)prefetch(") + count(lowered, "(uint16)prefetch(") == 0);
        for (int line = 0; line < 64 * type.bytes() / 64; line++)
            CHECK(count(lowered, " + (int64)" + std::to_string(64 * line) + ")") == 1);
    }
}

TEST_CASE("a condition that does not change in a loop branches before it, and what one side alone needs is not formed "
          "on the other") {
    const auto made = [](bool before) {
        return PassGenerator([=](Internal::GeneratorBase &generator, Func out) {
            Var x("x");
            Func state("state");
            RDom block(0, 3, "block");
            const Expr is_first = block == 0;
            state(x) = undef<float>();
            state(x) = select(before ? gyre::branch(is_first) : is_first, cast<float>(x), state(x) * 2 + 1);
            out(x) = state(x);
            out.bound(x, 0, 8);
            state.compute_root().update().reorder(x, block);
            if (before) gyre::branch_before_loops(generator);
        });
    };
    const std::string lowered = made(true).lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, ".s1.x, 0, 8)") == 2);
    CHECK(count(lowered, "select(") == 0);
    CHECK(count(made(false).lowered(), ".s1.x, 0, 8)") == 1);
    const Buffer<float> result = made(true).run(8);
    for (int x = 0; x < 8; x++) CHECK(result(x) == (float)((x * 2 + 1) * 2 + 1));
}

TEST_CASE("of several conditions in a loop each branches before the loops in which it does not change, also one that "
          "is read from memory") {
    for (const auto &[start, outlives_turns] : {std::pair{0, false}, {1, false}, {0, true}, {1, true}}) {
        const PassGenerator made(
            [first = start, at_root = outlives_turns](Internal::GeneratorBase &generator, Func out) {
                Var x("x"), b("b");
                Func flag("flag"), sums("sums"), state("state");
                RDom block(0, 4, "block"), turn(0, 5, "turn");
                flag(b) = (b + first) % 2 == 0;
                sums(x, b) = 0.0f;
                sums(x, b) += select(gyre::branch(flag(b)), 1.0f, 10.0f) * turn;
                state(x) = 0.0f;
                state(x) = select(gyre::branch(block >= 2), state(x) * 2, state(x)) + sums(x, block);
                out(x) = state(x);
                out.bound(x, 0, 8);
                state.compute_root().update().reorder(x, block);
                flag.compute_at(state, block);
                at_root ? flag.store_root().fold_storage(b, 1) : flag.bound_storage(b, 1);
                sums.compute_at(state, block).bound_storage(b, 1).update().reorder(x, turn);
                gyre::branch_before_loops(generator);
            });
        CHECK(count(made.lowered(), "select(") == 0);
        float expected = 0;
        for (int b = 0; b < 4; b++)
            expected = expected * (b >= 2 ? 2.0f : 1.0f) + ((b + start) % 2 == 0 ? 10.0f : 100.0f);
        const Buffer<float> result = made.run(8);
        for (int x = 0; x < 8; x++) CHECK(result(x) == expected);
    }
}

TEST_CASE("definitions and stores outside of loops branch as well, and a pass that finds no mark stops the build") {
    const PassGenerator made([](Internal::GeneratorBase &generator, Func out) {
        Var x("x");
        Func state("state");
        RDom block(0, 3, "block");
        state(x) = undef<float>();
        state(x) = select(gyre::branch(block == 0), cast<float>(x), state(x) + 1);
        out(x) = state(x);
        out.bound(x, 0, 8);
        state.compute_root().bound(x, 0, 8).update().reorder(x, block).vectorize(x, 8);
        gyre::branch_before_loops(generator);
    });
    CHECK(count(made.lowered(), "select(") == 0);
    CHECK(made.run(8)(5) == 7.0f);
    const PassGenerator none([](Internal::GeneratorBase &generator, Func out) {
        Var x("x");
        out(x) = cast<float>(x);
        gyre::branch_before_loops(generator);
    });
    CHECK(refusal([&] { none.lowered(); }).find("nothing has a branch before it") != std::string::npos);
}
