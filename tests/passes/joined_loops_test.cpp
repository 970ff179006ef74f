/// passes/order/joined_loops.h and passes/order/empty_loops.h: two loops that are one, and loops that do not run where those in them have no turn.
#include "pass_generator.h"
#include "passes/order/empty_loops.h"
#include "passes/order/joined_loops.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::test;

TEST_CASE("loops around a loop without turns do not run, those around others do") {
    Var x("x"), y("y");
    for (const bool skip : {false, true}) {
        Func table("table");
        Param<int> none("none", 0), three("three", 3);
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            RDom some(0, clamp(none, 0, 4), "some"), all(0, clamp(three, 0, 4), "all"), few(0, 4, "few");
            table(x, y) = cast<float>(x + y);
            table(some, y) += 100.0f; // in no turn
            table(all, y) += 10.0f;
            few.where(few < y); // an extent that changes with the outer loop
            table(few, y) += 1000.0f;
            out(x) = table(x % 8, x / 8);
            table.compute_root().bound(x, 0, 8);
            if (skip) gyre::skip_empty_loops(generator, table.name(), "y");
        });
        const Buffer<float> result = made.run(64);
        for (int i = 0; i < 64; i++) {
            const int in_row = i % 8, row = i / 8;
            CHECK(result(i) == (float)(in_row + row + (in_row < 3 ? 10 : 0) + (in_row < std::min(row, 4) ? 1000 : 0)));
        }
        const std::string lowered = made.lowered(), branch = " > 0) {";
        CHECK(count(lowered, branch) == (skip ? 2 : 0));
    }
}

TEST_CASE("what a loop forms is formed in the loop that comes later, a row at a time") {
    Var x("x"), y("y");
    for (const bool join : {false, true}) {
        Func formed("formed"), total("total"), read("read");
        RDom some(0, 8, "some"), summed(0, 8, "summed");
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            formed(x, y) = undef<float>();
            formed(some, y) = cast<float>(some * some + y);
            total(y) = 0.5f;
            total(y) += formed(summed, y);
            read(x, y) = formed(x, y) * total(y);
            out(x) = read(x % 8, x / 8);
            formed.compute_root().bound(x, 0, 8).update().reorder(some, y);
            total.compute_root().update().reorder(summed, y);
            read.compute_root().bound(x, 0, 8);
            if (join) gyre::join_loops(generator, formed.name(), total.name(), "y");
        });
        const Buffer<float> result = made.run(24);
        for (int i = 0; i < 24; i++) {
            const float row = (float)(i / 8), of_row = 0.5f + 140 + 8 * row;
            CHECK(result(i) == ((float)(i % 8 * (i % 8)) + row) * of_row);
        }
        CHECK(count(made.lowered(), "for (formed") == (join ? 0 : 2));
    }
}

TEST_CASE("loops that are not alike are not joined") {
    Var x("x");
    Func formed("formed"), total("total");
    RDom some(0, 8, "some"), fewer(0, 7, "fewer");
    const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
        formed(x) = undef<float>();
        formed(some) = cast<float>(some);
        total() = 0.0f;
        total() += formed(fewer);
        out(x) = formed(x % 8) + total();
        formed.compute_root().bound(x, 0, 8);
        total.compute_root();
        gyre::join_loops(generator, formed.name(), total.name(), "y");
    });
    const std::string stopped = refusal([&] { made.lowered(); });
    CHECK(stopped.find(total.name() + " has 7 turns, " + formed.name() + " has 8") != std::string::npos);
}
