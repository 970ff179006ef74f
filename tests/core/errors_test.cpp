/// How far results are from double precision, in numbers: the same inputs everywhere, so that targets and machines compare.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/rotary_case.h"

#include <cstdio>

using namespace gyre::test;

namespace {

/// The allowance for numbers of magnitude 1: arithmetic is in f32, and then there is the rounding to the type.
double bound(gyre_dtype dtype) { return dtype == GYRE_F32 ? 2e-6 : dtype == GYRE_F16 ? 2e-3 : 2e-2; }

void print_and_check(gyre_context *context, const std::string &what, gyre_dtype dtype, const Dense &got,
                     const Dense &expected) {
    const double error = worst_difference(got.data, expected.data).error;
    std::printf("target %-24s largest error of %s: %.2g\n", gyre_context_target(context), what.c_str(), error);
    CHECK_MESSAGE(error <= bound(dtype), what);
}

} // namespace

TEST_CASE("largest errors beside double precision, printed for every target") {
    static const char *const types[] = {"f32", "f16", "bf16"};
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16}) {
        RotaryCase rotary(RotaryShape().length(33).head_count(4).dim(128).of(dtype));
        rotary.args.position_offset = 131071;
        const OracleRotary rotated = oracle_rotary(rotary.args);
        each_target([&](gyre_context *context) {
            REQUIRE(rotary.run(context) == GYRE_OK);
            print_and_check(context, std::string("rotary ") + types[dtype], dtype,
                            Dense(rotary.out.view(), rotary.args.layout), rotated.out);
        });
        AttentionCase attention(AttentionShape().lengths(64, 256).head_counts(2, 2).dims(64).of(dtype));
        const gyre_rope rope = gyre_rope_defaults();
        attention.args.rope = attention.args.value_rope = &rope;
        const OracleAttention expected = oracle_attention(attention.args, attention.oracle_score);
        each_target([&](gyre_context *context) {
            REQUIRE(attention.run(context) == GYRE_OK);
            print_and_check(context, std::string("RoPER attention ") + types[dtype], dtype, attention.output(),
                            expected.out);
        });
    }
}
