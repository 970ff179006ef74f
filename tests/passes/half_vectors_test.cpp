/// passes/instructions/half_vectors.h: conversions of f16 by integer operations, on targets that need them, and nothing elsewhere.
#include "pass_generator.h"
#include "passes/instructions/half_vectors.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace Halide;
using namespace gyre::test;

namespace {

PassGenerator through_f16(ImageParam &in, const Target &target, int lanes = 8) {
    return PassGenerator(
        [&](Internal::GeneratorBase &generator, Func out) {
            Var x{"x"};
            Func stored{"stored"};
            stored(x) = cast<float16_t>(in(x));
            out(x) = cast<float>(stored(x));
            stored.compute_root().vectorize(x, lanes);
            out.vectorize(x, lanes);
            gyre::map_half_vectors(generator);
        },
        target);
}

const Target without_f16c("x86-64-linux-sse41");

} // namespace

TEST_CASE("vectors of f16 are integers on targets whose conversions do not serve, and on no others") {
    ImageParam in(Float(32), 1, "in");
    const Target mapped[] = {without_f16c, Target("arm-32-linux")};
    const Target left[] = {Target("x86-64-linux-sse41-avx-f16c"), Target("arm-32-linux-no_neon"),
                           Target("arm-64-linux")};
    for (const Target &target : mapped) {
        const std::string lowered = through_f16(in, target).lowered();
        CAPTURE(lowered);
        CHECK(count(lowered, " float16x8(") == 0);
        CHECK(count(lowered, " uint16x8(") > 0);
    }
    for (const Target &target : left) {
        const std::string lowered = through_f16(in, target).lowered();
        CAPTURE(lowered);
        CHECK(count(lowered, " float16x8(") > 0);
    }
}

TEST_CASE("f16 by integer operations: every number comes back, and others are rounded to the nearest even one") {
    ImageParam in(Float(32), 1, "in");
    const PassGenerator made = through_f16(in, without_f16c);
    constexpr int finite = 0x7c00; // bits of all positive numbers are below
    Buffer<float> values(2 * finite);
    for (int i = 0; i < finite; i++) {
        values(2 * i) = (float)float16_t::make_from_bits((uint16_t)i);
        const float next = i + 1 < finite ? (float)float16_t::make_from_bits((uint16_t)(i + 1)) : 65536.0f;
        values(2 * i + 1) = -(values(2 * i) + next) / 2; // a tie
    }
    in.set(values);
    const Buffer<float> result = made.run(2 * finite);
    int wrong = 0;
    for (int i = 0; i < finite; i++) {
        const int even = i + i % 2;
        const float tie =
            even < finite ? (float)float16_t::make_from_bits((uint16_t)even) : std::numeric_limits<float>::infinity();
        wrong += result(2 * i) != values(2 * i) || result(2 * i + 1) != -tie;
    }
    CHECK(wrong == 0);
}

TEST_CASE("f16 by integer operations: infinity and NaN stay what they are") {
    ImageParam in(Float(32), 1, "in");
    const PassGenerator made = through_f16(in, without_f16c);
    Buffer<float> values(8);
    const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const float given[] = {infinity, -infinity, nan, -nan, 1e9f, -1e9f, 1e-9f, -1e-9f};
    for (int i = 0; i < 8; i++) values(i) = given[i];
    in.set(values);
    const Buffer<float> result = made.run(8);
    for (const int i : {0, 4}) CHECK((result(i) == infinity && result(i + 1) == -infinity));
    for (const int i : {2, 3}) CHECK(std::isnan(result(i)));
    for (const int i : {6, 7}) CHECK((result(i) == 0 && std::signbit(result(i)) == (i == 7)));
}
