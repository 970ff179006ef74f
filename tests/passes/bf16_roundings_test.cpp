/// passes/instructions/bf16_roundings.h: roundings to bf16 become instructions where the target has one for so many lanes, and integer operations else.
#include "math/bf16_rounding.h"
#include "pass_generator.h"
#include "passes/instructions/bf16_roundings.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

using namespace Halide;
using namespace gyre::test;

namespace {

PassGenerator rounded(ImageParam &in, int lanes, const Target &target) {
    return PassGenerator(
        [&](Internal::GeneratorBase &generator, Func out) {
            Var x{"x"};
            Func bits{"bits"};
            bits(x) = gyre::bf16_rounding(in(x));
            out(x) = reinterpret<float>(cast<uint32_t>(bits(x)) << 16);
            bits.compute_root().vectorize(x, lanes);
            gyre::map_bf16_roundings(generator);
        },
        target);
}

/// The nearest bf16 number, ties to even, of a number far from both ends of the range.
float nearest(float value) {
    uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    word = (word + 0x7fff + (word >> 16 & 1)) & 0xffff0000u;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

} // namespace

TEST_CASE("roundings to bf16: one instruction a vector of 16 lanes or more, none of it for fewer") {
    const Target x86("x86-64-linux-sse41-avx-avx2-f16c-fma-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4");
    ImageParam in(Float(32), 1, "in");
    for (const int lanes : {4, 8, 16, 32}) {
        const std::string lowered = rounded(in, lanes, x86).lowered();
        CAPTURE(lowered);
        CHECK((count(lowered, "vcvtne2ps2bf16(") > 0) == (lanes >= 16));
        // Half a vector fills both operands: what else a register holds would be waited for.
        CHECK((count(lowered, "concat_vectors(") > 0) == (lanes == 16));
        CHECK(count(lowered, "bf16_rounding(") == 0);
    }
}

TEST_CASE("roundings to bf16: on ARM a conversion to f16 stands for the instruction, whatever the lanes") {
    const Target arm("arm-64-linux-arm_dot_prod");
    CHECK(gyre::has_bf16_rounding(arm));
    CHECK_FALSE(gyre::has_bf16_rounding(Target("arm-64-linux")));
    ImageParam in(Float(32), 1, "in");
    for (const int lanes : {4, 8}) {
        const std::string lowered = rounded(in, lanes, arm).lowered();
        CAPTURE(lowered);
        CHECK(count(lowered, "float16x" + std::to_string(lanes)) > 0);
        CHECK(count(lowered, "bf16_rounding(") == 0);
    }
}

TEST_CASE("roundings to bf16 are to the nearest even number") {
    for (const int lanes : {4, 16}) {
        if (lanes == 16 && !gyre::has_bf16_rounding(get_host_target())) continue;
        ImageParam in(Float(32), 1, "in");
        const PassGenerator made = rounded(in, lanes, get_host_target());
        Buffer<float> values(64);
        for (int i = 0; i < 64; i++)
            values(i) = (i % 2 ? -1.0f : 1.0f) * (1.0f + (float)i * 0x1p-9f + (i % 3 ? 0x1p-20f : 0.0f));
        in.set(values);
        const Buffer<float> result = made.run(64);
        for (int i = 0; i < 64; i++) CHECK(result(i) == nearest(values(i)));
    }
}
