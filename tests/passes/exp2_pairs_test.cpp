/// passes/instructions/exp2_pairs.h: powers of two, two a lane, as near as its header says.
#include "pass_generator.h"
#include "passes/instructions/exp2_pairs.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace Halide;
using namespace gyre::test;

TEST_CASE("pairs of powers of two are computed in 16-bit lanes, to half a percent") {
    constexpr int numbers = 1248; // from -62 to 63, by tenths
    ImageParam in(Float(32), 1, "in");
    for (const bool second : {false, true}) {
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            Var x{"x"};
            Func pairs{"pairs"};
            pairs(x) = second ? gyre::exp2_pair(-in(x), in(x)) : gyre::exp2_pair(in(x), -in(x));
            out(x) = reinterpret<float>(second ? pairs(x) & Expr(0xffff0000u) : pairs(x) << 16);
            pairs.compute_root().vectorize(x, 8);
            gyre::map_exp2_pairs(generator);
        });
        const std::string lowered = made.lowered();
        CAPTURE(lowered);
        CHECK(count(lowered, "exp2_of_fixed_pair") == 0);
        CHECK(count(lowered, "uint16x16") > 0); // 8 lanes of pairs
        Buffer<float> values(numbers);
        for (int i = 0; i < numbers; i++) values(i) = -61.9f + 0.1f * (float)i;
        in.set(values);
        const Buffer<float> result = made.run(numbers);
        for (int i = 0; i < numbers; i++) {
            const double exact = std::exp2((double)values(i) - gyre::exp2_pair_shift);
            CHECK(std::abs(result(i) - exact) < 0.005 * exact);
        }
    }
}
