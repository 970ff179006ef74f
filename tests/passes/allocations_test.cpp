/// passes/memory/equal_elements.h, passes/memory/joined_tuples.h, passes/memory/small_stack.h and passes/memory/register_values.h: where memory is.
#include "pass_generator.h"
#include "passes/memory/equal_elements.h"
#include "passes/memory/joined_tuples.h"
#include "passes/memory/register_values.h"
#include "passes/memory/small_stack.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace Halide;
using namespace gyre::test;

namespace {

constexpr int elements = 24;

/// The sum of both elements of a Tuple. `second`: the type of the other one.
PassGenerator sum_of_tuple(const Type &second, int most_on_stack) {
    return PassGenerator([=](Internal::GeneratorBase &generator, Func out) {
        Var x{"x"};
        Func both{"both"};
        both(x) = Tuple(cast<float>(x), cast(second, 3 * x));
        both(x) = Tuple(both(x)[0] + 1.0f, both(x)[1] + cast(second, 1));
        out(x) = both(x)[0] + cast<float>(both(x)[1]);
        out.bound(x, 0, elements);
        both.compute_root();
        gyre::join_tuples(generator, most_on_stack);
    });
}

} // namespace

TEST_CASE("the elements of a Tuple share one allocation, on the heap if that is large") {
    for (const bool large : {false, true}) {
        const PassGenerator made = sum_of_tuple(Float(32), large ? 2 * 4 * elements - 1 : 2 * 4 * elements);
        const std::string lowered = made.lowered();
        CAPTURE(lowered);
        CHECK(count(lowered, "allocate ") == 1);
        CHECK(count(lowered, "[float32 * " + std::to_string(2 * elements) + "]") == 1);
        CHECK(count(lowered, "in Heap") == (large ? 1 : 0));
        const Buffer<float> result = made.run(elements);
        for (int x = 0; x < elements; x++) CHECK(result(x) == (float)(4 * x + 2));
    }
}

TEST_CASE("the elements of a Tuple of several types stay apart") {
    const PassGenerator made = sum_of_tuple(Int(16), 4096);
    const std::string lowered = made.lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, "allocate ") == 2);
    CHECK(count(lowered, "[float32 * " + std::to_string(2 * elements) + "]") == 0);
    CHECK(made.run(elements)(5) == 22.0f);
}

TEST_CASE("equal elements of a Tuple are loaded once for a loop") {
    for (const bool once : {false, true}) {
        const PassGenerator made([=](Internal::GeneratorBase &generator, Func out) {
            Var x{"x"}, i{"i"};
            RDom step(0, 3);
            Func state{"state"};
            state(i) = Tuple(cast<float>(i), 1.0f);
            const Expr greatest = state(i)[1];
            state(i) = Tuple(state(i)[0] * greatest + 1.0f, max(greatest, cast<float>(2 * step)));
            state.update().reorder(i, step);
            out(x) = state(x)[0];
            out.bound(x, 0, elements);
            state.compute_root();
            if (once) gyre::load_equal_elements_once(generator, state.name() + ".1", "i");
        });
        const std::string lowered = made.lowered();
        CAPTURE(lowered);
        CHECK(count(lowered, ".of_all_0 = ") == (once ? 1 : 0));
        const Buffer<float> result = made.run(elements);
        for (int i = 0; i < elements; i++) {
            float sum = (float)i, greatest = 1;
            for (int step = 0; step < 3; step++) {
                sum = sum * greatest + 1.0f;
                greatest = std::max(greatest, (float)(2 * step));
            }
            CHECK(result(i) == sum);
        }
    }
}

TEST_CASE("equal elements of a Tuple are formed and stored by the last turn alone, in the first one's place") {
    const PassGenerator made([](Internal::GeneratorBase &generator, Func out) {
        Var x{"x"}, i{"i"};
        RDom step(0, 3);
        Func state{"state"};
        state(i) = Tuple(cast<float>(i), 1.0f, 1.0f);
        const Expr greatest = state(i)[1];
        state(i) = Tuple(state(i)[0] + greatest, max(greatest, cast<float>(2 * step)), state(i)[2] * 2.0f + greatest);
        state.update().reorder(i, step);
        out(x) = state(x)[0] + 100.0f * state(0)[1] + 1000.0f * state(0)[2];
        out.bound(x, 0, elements);
        state.compute_root();
        gyre::keep_equal_elements_once(generator, {state.name() + ".1", state.name() + ".2"}, "i");
    });
    const std::string lowered = made.lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, ".1[0] = ") == 2); // where they begin, and where they change
    CHECK(count(lowered, ".2[0] = ") == 2);
    float added = 0, greatest = 1, sum = 1;
    for (int step = 0; step < 3; step++) {
        added += greatest;
        sum = sum * 2 + greatest;
        greatest = std::max(greatest, (float)(2 * step));
    }
    const Buffer<float> result = made.run(elements);
    for (int i = 0; i < elements; i++) CHECK(result(i) == (float)i + added + 100 * greatest + 1000 * sum);
}

TEST_CASE("a loop that loads several equal elements of a Tuple loads each of them once") {
    constexpr int beside = 3;
    const PassGenerator made([=](Internal::GeneratorBase &generator, Func out) {
        Var x{"x"}, r{"r"}, i{"i"};
        RDom step(0, 3);
        Func state{"state"};
        state(r, i) = Tuple(cast<float>(i), cast<float>(r));
        state(r, i) = Tuple(state(r, i)[0] + state(r, i)[1], max(state(r, i)[1], cast<float>(2 * step)));
        state.bound(r, 0, beside).update().reorder(r, i, step).unroll(r);
        out(x) = state(x % beside, x / beside)[0];
        out.bound(x, 0, elements);
        state.compute_root();
        gyre::load_equal_elements_once(generator, state.name() + ".1", "i");
    });
    const std::string lowered = made.lowered();
    CAPTURE(lowered);
    for (int r = 0; r <= beside; r++)
        CHECK(count(lowered, ".of_all_" + std::to_string(r) + " = ") == (r < beside ? 1 : 0));
    const Buffer<float> result = made.run(elements);
    for (int x = 0; x < elements; x++) {
        const int r = x % beside;
        CHECK(result(x) == (float)(x / beside + r + r + std::max(r, 2)));
    }
}

TEST_CASE("a small stack holds what is small, and within loops some more") {
    const struct {
        int floats;
        bool in_loop, on_heap;
    } cases[] = {{16, false, false}, {17, false, true}, {64, true, false}, {65, true, true}};
    for (const auto &c : cases) {
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            Var x{"x"}, block{"block"}, inner{"inner"};
            Func held{"held"};
            RDom r(0, c.floats);
            held(x) = cast<float>(x);
            held(x) += 1.0f;
            out(x) = sum(held(r)) + cast<float>(x);
            out.bound(x, 0, 8);
            if (c.in_loop)
                held.compute_at(out, x);
            else
                held.compute_root();
            gyre::use_small_stack(generator);
        });
        const std::string lowered = made.lowered();
        CAPTURE(lowered);
        const std::string size = "[float32 * " + std::to_string(c.floats) + "] in ";
        CHECK(count(lowered, size + "Heap") == (c.on_heap ? 1 : 0));
        CHECK(count(lowered, size + "Stack") == (c.on_heap ? 0 : 1));
        CHECK(made.run(8)(3) == (float)(c.floats * (c.floats + 1) / 2 + 3));
    }
}

TEST_CASE(
    "a Func in registers that is stored once is a value, and its elements are lanes, where another one stays memory") {
    for (const bool twice : {false, true}) {
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            Var x{"x"}, block{"block"}, lane{"lane"};
            Func held{"held"};
            held(x, lane) = cast<float>(x + lane * lane);
            if (twice) held(x, lane) += 1.0f;
            out(x) = held(x, 1) + 2 * held(x, 3);
            held.bound(lane, 0, 4).compute_at(out, x).store_in(MemoryType::Register).vectorize(lane, 4);
            if (twice) held.update().vectorize(lane, 4);
            gyre::keep_values_in_registers(generator);
        });
        const std::string lowered = made.lowered();
        CAPTURE(lowered);
        CHECK(count(lowered, "allocate held") == (twice ? 1 : 0));
        const Buffer<float> result = made.run(5);
        for (int x = 0; x < 5; x++) CHECK(result(x) == (float)(3 * x + 19 + (twice ? 3 : 0)));
    }
}
