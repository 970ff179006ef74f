/// Attention over many keys, and its gradients: what each block adds to an error.
#include "support/attention_case.h"
#include "support/backward_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <cmath>

using namespace gyre::test;

namespace {

/// Rows that are many enough for prefill, and few enough for decoding.
const int64_t many_rows = 20, few_rows = 2;

} // namespace

TEST_CASE("many keys of equal scores: each has the same weight") {
    const int64_t count = 32768;
    for (const int64_t rows : {many_rows, few_rows}) {
        AttentionCase c(AttentionShape().lengths(rows, count).dims(64));
        c.q.fill(0);
        for (int64_t j = 0; j < count; j++)
            for (int64_t d = 0; d < 64; d++) c.v.set({0, j, 0, d}, j < count / 2 ? 1 : -1); // sums are exact
        each_target([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CAPTURE(text(gyre_selected_kernel(context)));
            check_close("out", c.output().data, std::vector<double>((size_t)(rows * 64)), 0);
            // A sum of ones is exact; what is left is the logarithm's error.
            check_close("lse", c.lse.values(), std::vector<double>((size_t)rows, std::log((double)count)), 3e-6);
        });
    }
}

TEST_CASE("many keys of normal scores: errors do not grow with the number of blocks") {
    const int64_t count = 32768;
    for (const int64_t head_dim : {64, 128})
        for (const int64_t rows : {many_rows, few_rows}) {
            AttentionCase c(AttentionShape().lengths(rows, count).dims(head_dim));
            // Older values are larger, so a weight that depends on a key's age moves the result.
            for (int64_t j = 0; j < count; j++)
                for (int64_t d = 0; d < head_dim; d++) c.v.set({0, j, 0, d}, j < count / 2 ? 1 : -1);
            const OracleAttention expected = oracle_attention(c.args);
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CAPTURE(text(gyre_selected_kernel(context)));
                // A weight's relative error is 2e-7, and that of its score, up to 6, times 2^-24; over 32768 keys they all
                // but cancel. Sums within blocks, and over 256 blocks, are off by a few units of 2^-24.
                check_close("out", c.output().data, expected.out.data, 1e-6);
                check_close("lse", c.lse.values(), expected.lse, 2e-6);
            });
        }
}

TEST_CASE("many keys: gradients are as good as those of few") {
    BackwardCase c(AttentionShape().lengths(many_rows, 32768).head_counts(1, 1).dims(64));
    const OracleBackward expected = oracle_backward(c.forward.args, c.args.out_grad);
    each_target([&](gyre_context *context) {
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        CAPTURE(text(gyre_selected_kernel(context)));
        // A weight is off by 3e-7, and by the error of its row's lse: half of f32's spacing there, 5e-7, and its logarithm's.
        CHECK(relative_rms(c.q_grad.values(), expected.q.exact.data) < 2e-6);
        CHECK(relative_rms(c.k_grad.values(), expected.k.exact.data) < 2e-6);
        CHECK(relative_rms(c.v_grad.values(), expected.v.exact.data) < 2e-6);
    });
}
