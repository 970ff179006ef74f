/// passes/instructions/bf16_dot.h: a vector of products of pairs is one instruction; another number of lanes is refused.
#include "pass_generator.h"
#include "passes/instructions/bf16_dot.h"

#include <doctest/doctest.h>

#include <cstring>

using namespace Halide;
using namespace gyre::test;

namespace {

PassGenerator sum_of_two(ImageParam &a, ImageParam &b, int lanes) {
    return PassGenerator([&, lanes](Internal::GeneratorBase &generator, Func out) {
        Var x{"x"};
        RDom term(0, 2, "term");
        Func total{"total"};
        total(x) = 1.0f;
        total(x) = gyre::bf16_dot(total(x), a(x, term), b(x, term));
        out(x) = total(x);
        out.vectorize(x, lanes);
        total.compute_at(out, x).vectorize(x, lanes).update().reorder(x, term).vectorize(x, lanes);
        gyre::map_bf16_dots(generator);
    });
}

/// Small whole numbers are bf16 numbers, and so are their sums in f32.
uint32_t pair_of(int first, int second) {
    const auto bits = [](int value) {
        const auto number = (float)value;
        uint32_t word;
        std::memcpy(&word, &number, sizeof word);
        return word >> 16;
    };
    return bits(first) | bits(second) << 16;
}

} // namespace

TEST_CASE("products of bf16 pairs become one instruction a vector") {
    ImageParam a(UInt(32), 2, "a"), b(UInt(32), 2, "b");
    const PassGenerator made = sum_of_two(a, b, gyre::bf16_dot_lanes);
    const std::string lowered = made.lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, "dot_product") == 1);
    CHECK(count(lowered, "bf16_dot") == 0);
    if (!gyre::has_bf16_dot(get_host_target())) return; // the text above is all that such a machine can look at

    Buffer<uint32_t> firsts(gyre::bf16_dot_lanes, 2), seconds(gyre::bf16_dot_lanes, 2);
    for (int x = 0; x < gyre::bf16_dot_lanes; x++)
        for (int p = 0; p < 2; p++) {
            firsts(x, p) = pair_of(x, p + 1);
            seconds(x, p) = pair_of(3 - p, x - 4);
        }
    a.set(firsts);
    b.set(seconds);
    const Buffer<float> result = made.run(gyre::bf16_dot_lanes);
    for (int x = 0; x < gyre::bf16_dot_lanes; x++)
        CHECK(result(x) == (float)(1 + x * 3 + 1 * (x - 4) + x * 2 + 2 * (x - 4)));
}

TEST_CASE("products of bf16 pairs with another number of lanes are refused") {
    ImageParam a(UInt(32), 2, "a"), b(UInt(32), 2, "b");
    const PassGenerator made = sum_of_two(a, b, 8);
    CHECK(refusal([&] { made.lowered(); }).find("has 8 lanes, expected 16") != std::string::npos);
}
