/// passes/memory/workspace_slots.h: one allocation a kernel, whose slots blocks have in turn; passes/memory/given_memory.h: which its caller gives.
#include "pass_generator.h"
#include "passes/memory/given_memory.h"
#include "passes/memory/workspace_slots.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::test;

namespace {

constexpr int extent = 1000;

} // namespace

TEST_CASE("blocks that do not live at once share a slot, if they are of one type") {
    Var x("x");
    Func first("first"), second("second"), third("third"), whole("whole"), last("last");
    const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
        first(x) = cast<float>(x * x);
        second(x) = first(extent - 1 - x) + 1.0f;
        third(x) = second(extent - 1 - x) * 2.0f; // after the last use of `first`
        whole(x) = cast<int>(third(x)) + cast<int>(second(x));
        last(x) = whole(extent - 1 - x) - 1; // after the last use of `second`
        out(x) = cast<float>(last(extent - 1 - x) + 1) + third(x);
        for (Func f : {first, second, third, whole, last}) f.compute_root();
        out.bound(x, 0, extent);
        gyre::use_workspace_slots(generator);
    });
    const Buffer<float> result = made.run(extent);
    for (int i = 0; i < extent; i++) {
        const int back = extent - 1 - i, third_there = 2 * (i * i + 1), second_there = back * back + 1;
        CHECK(result(i) == (float)(third_there + second_there) + (float)third_there);
    }
    const std::string lowered = made.lowered();
    CHECK(count(lowered, "allocate ") == 1);
    constexpr int slot = (extent * 4 + 63) / 64 * 64 + 64;
    CHECK(count(lowered, "uint8 * " + std::to_string(4 * slot)) == 1); // two of f32, two of int32
}

TEST_CASE("a block that is formed in a loop takes no slot of one that is live") {
    Var x("x");
    Func kept("kept"), brief("brief"), sum("sum");
    RDom r(0, 4, "r");
    const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
        kept(x) = cast<float>(x + 1);
        brief(x) = cast<float>(2 * x);
        sum(x) = 0.0f;
        sum(x) += select(r % 2 == 0, kept(x), brief(extent - 1 - x) + kept(x));
        out(x) = sum(x) + kept(extent - 1 - x);
        kept.compute_root();
        sum.compute_root();
        brief.compute_at(sum, r);
        sum.update().reorder(x, r);
        out.bound(x, 0, extent);
        gyre::use_workspace_slots(generator);
    });
    const Buffer<float> result = made.run(extent);
    for (int i = 0; i < extent; i++)
        CHECK(result(i) == 4.0f * (float)(i + 1) + 4.0f * (float)(extent - 1 - i) + (float)(extent - i));
    CHECK(count(made.lowered(), "allocate ") == 1);
}

TEST_CASE("what the compiler takes into registers, and what is small, stays on the stack") {
    Var x("x"), xo("xo"), xi("xi");
    Func in_registers("in_registers"), small("small"), large("large");
    RDom r(0, 16, "r");
    const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
        large(x) = cast<float>(x);
        small(x) = cast<float>(x % 3);
        in_registers(x) = 0.0f;
        in_registers(x) += large(x) * small(r);
        out(x) = in_registers(x);
        large.compute_root();
        small.compute_root();
        out.bound(x, 0, 1024).split(x, xo, xi, 128).vectorize(xi, 8).unroll(xi);
        in_registers.compute_at(out, xo).vectorize(x, 8).unroll(x);
        in_registers.update().reorder(x, r).vectorize(x, 8).unroll(x);
        gyre::use_workspace_slots(generator);
    });
    const Buffer<float> result = made.run(1024);
    for (int i = 0; i < 1024; i++) CHECK(result(i) == 15.0f * (float)i); // 0 + 1 + 2, five times, and 0
    const std::string lowered = made.lowered();
    CHECK(count(lowered, "in Stack") == 2);
    CHECK(count(lowered, "in Heap") == 1);
}

TEST_CASE("a kernel's memory is where its context points to") {
    Var x("x");
    Func kept("kept");
    const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
        kept(x) = cast<float>(x);
        out(x) = kept(extent - 1 - x);
        kept.compute_root();
        out.bound(x, 0, extent);
        gyre::use_workspace_slots(generator);
        gyre::use_given_memory(generator);
    });
    const std::string lowered = made.lowered();
    CHECK(count(lowered, "allocate ") == 0);
    CHECK(count(lowered, "free ") == 0);
    CHECK(count(lowered, "__user_context[0]") == 1);
}

TEST_CASE("what stays in memory has no place of what is taken into registers") {
    Var x("x"), xo("xo"), xi("xi");
    RDom r(0, 16, "r");
    for (const bool apart : {false, true}) {
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            Func registers("registers"), small("small");
            small(x) = cast<float>(x % 3);
            registers(x) = 0.0f;
            registers(x) += small(r + x % 2);
            out(x) = registers(x);
            small.bound(x, 0, 17);
            out.bound(x, 0, 1024).split(x, xo, xi, 64).vectorize(xi, 8).unroll(xi);
            registers.compute_at(out, xo).vectorize(x, 8).unroll(x);
            registers.update().reorder(x, r).vectorize(x, 8).unroll(x);
            small.compute_at(out, xo);
            gyre::use_workspace_slots(generator, 256, apart);
        });
        const Buffer<float> result = made.run(1024);
        for (int i = 0; i < 1024; i++) CHECK(result(i) == (i % 2 ? 16.0f : 15.0f)); // 0 + 1 + 2, five times, and 0 or 1
        const std::string lowered = made.lowered();
        CHECK(count(lowered, "in Stack") == 2);
        const size_t loop = lowered.find("for (out"), small = lowered.find("allocate small");
        CHECK((small < loop) == apart);
    }
}
