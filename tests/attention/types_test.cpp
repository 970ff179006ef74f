/// gyre_attention() in f16 and bf16: computed in f32, so that only storing the output may cost more than in f32.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <cmath>

using namespace gyre::test;

TEST_CASE("f16 and bf16 of every kind of head size, in both families") {
    for (const gyre_dtype dtype : {GYRE_F16, GYRE_BF16})
        for (const int64_t head_dim : {1, 8, 32, 64, 72, 80, 96, 128, 200, 256, 512})
            for (const float softcap : {0.0f, 5.0f}) {
                AttentionCase c(AttentionShape().lengths(65, 130).head_counts(2, 1).dims(head_dim).of(dtype));
                c.args.causal = 1;
                c.args.softcap = softcap;
                c.check();
            }
}

TEST_CASE("f16 and bf16 with RoPE and RoPER, in both pairings") {
    for (const gyre_dtype dtype : {GYRE_F16, GYRE_BF16})
        for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
            for (const int rotary_dim : {0, 24}) {
                AttentionCase c(AttentionShape().lengths(50, 210).head_counts(4, 2).dims(64).of(dtype).in(GYRE_BHSD));
                gyre_rope rope = gyre_rope_defaults();
                rope.pairing = pairing;
                rope.rotary_dim = rotary_dim;
                c.args.rope = c.args.value_rope = &rope;
                c.args.causal = 1;
                c.check();
            }
}

// The sum of all is one, but each of them is below f32's normal numbers, which instructions that multiply bf16 take for 0.
TEST_CASE("products of weights and values that are no normal numbers") {
    const int64_t count = 60;
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16})
        for (const int64_t queries : {3, 40})
            for (const bool with_bias : {false, true}) {
                AttentionCase c(AttentionShape().lengths(queries, count).dims(64).of(dtype));
                const double far = 96 * std::log(2);
                c.q.fill(with_bias ? 0 : 1);
                c.k.fill(0);
                c.v.fill(0x1p-32);              // times 2^-96
                c.k.set({0, 0, 0, 0}, 8 * far); // one feature: sums of equal products round all one way
                for (int64_t d = 0; d < 64; d++) c.v.set({0, 0, 0, d}, 0);
                Tensor bias(GYRE_F32, {count});
                bias.fill(-far);
                bias.set({0}, 0);
                if (with_bias) c.args.bias = c.hold(std::move(bias));
                c.check();
            }
}

// Their products with most values would be no normal numbers, which take some processors a hundred cycles each.
TEST_CASE("with a bias, weights below 2^-100 of the largest are 0, and larger ones count") {
    const int64_t count = 60;
    for (const int64_t queries : {1, 3, 40})
        for (const int power : {-99, -101}) {
            AttentionCase c(AttentionShape().lengths(queries, count).dims(64));
            c.q.fill(0);
            c.v.fill(0x1p99);
            for (int64_t d = 0; d < 64; d++) c.v.set({0, 0, 0, d}, 0);
            Tensor bias(GYRE_F32, {count});
            bias.fill(power * std::log(2));
            bias.set({0}, 0);
            c.args.bias = c.hold(std::move(bias));
            Dense expected = c.output();
            const double sum = power > -100 ? count - 1 : 0;
            expected.data.assign(expected.data.size(), sum);
            c.check_output(expected, 1e-4 * sum); // 99 ln 2 is rounded to f32
        }
}

TEST_CASE("types that do not agree are refused by name") {
    AttentionCase c(AttentionShape().lengths(5, 6).of(GYRE_BF16));
    c.args.v.dtype = GYRE_F16;
    CHECK(gyre_attention(nullptr, &c.args) == GYRE_BAD_TYPE);
    CHECK(std::string(gyre_last_error()).rfind("v:", 0) == 0);
}
