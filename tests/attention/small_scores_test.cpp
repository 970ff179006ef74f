/// gyre_attention() in bf16 with ALiBi alone, without lse, where scores reach the sizes from which matrix tiles no longer take powers of them as they
/// are: on either side of each of the conditions of generators/attention/engines/tiles/changed_scores.cpp.
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/small_scores_case.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE("small scores: slopes of every size, beside scores on both sides of the limit") {
    for (const int64_t head_dim : {64, 128})
        for (const double score : {1.0, 20.0, 39.0, 39.9, 40.0, 40.1, 60.0, 90.0})
            for (const double slope : {0.0, 1e-30, 1e-3, 0.02, 0.3, 1.0, 7.0, 300.0, 2e6, 1e30}) {
                SmallCase c(150, 300, head_dim);
                c.set_scores(score);
                c.slopes(slope, 0.5 * slope);
                c.args.causal = 1;
                c.check();
            }
}

TEST_CASE("small scores: slopes below 0, and keys after their queries") {
    for (const int64_t head_dim : {64, 128})
        for (const double slope : {-2.0, -0.3, -1e-3, 1e-3, 0.3, 2.0})
            for (const int causal : {0, 1}) {
                SmallCase c(200, 260, head_dim);
                c.slopes(slope, -slope);
                c.args.causal = causal;
                c.check();
                if (causal) continue;
                c.args.window_right = 1;
                c.check();
            }
}

TEST_CASE("small scores: queries far after the last key that they see") {
    for (const int64_t rows : {40, 300, 700})
        for (const double slope : {1e-3, 0.02, 0.3, 1.0, 3.0}) {
            SmallCase c(rows, 33, 64);
            c.args.alignment = GYRE_TOP_LEFT;
            c.slopes(slope, 0.1 * slope);
            c.args.causal = 1;
            c.check();
            c.args.causal = 0;
            c.check();
            c.args.causal = 1;
            c.args.window_left = 20; // later rows see nothing
            c.check();
        }
}

TEST_CASE("small scores: windows, shorter and longer than a slope's reach, and rows that see nothing") {
    for (const int64_t window : {0, 1, 31, 32, 100, 500})
        for (const double slope : {0.01, 0.25, 1.0, 20.0, 100.0}) {
            SmallCase c(400, 330, 128);
            c.slopes(slope, 2 * slope);
            c.args.causal = 1;
            c.args.window_left = window;
            c.check();
            c.args.sinks = c.hold(GYRE_F32, {0.5, -3});
            c.check();
        }
}

TEST_CASE("small scores: one far key whose score is large, and rows of every size") {
    for (const double slope : {0.01, 0.25, 1.0})
        for (const double size : {5.0, 30.0, 1e3, 1e6}) {
            SmallCase c(300, 300, 64);
            c.set_key(7, 0, size);
            for (int64_t d = 0; d < 64; d++) c.q.set({0, 200, 1, d}, size);
            c.slopes(slope, slope);
            c.args.causal = 1;
            c.check();
        }
}

TEST_CASE("small scores: what a slope leaves nothing of still is a number or not, and what is masked never counts") {
    for (const double value : {not_a_number, infinity, -infinity})
        for (const double slope : {1e-3, 0.3, 5.0, 1e4})
            for (const int64_t key : {0, 100, 299}) {
                SmallCase c(300, 300, 128), finite(300, 300, 128);
                for (SmallCase *each : {&c, &finite}) {
                    each->slopes(slope, slope);
                    each->args.causal = 1;
                }
                c.set_value(key, value);
                each_target([&](gyre_context *context) {
                    REQUIRE(c.run(context) == GYRE_OK);
                    REQUIRE(finite.run(context) == GYRE_OK);
                    const Dense got = c.output(), expected = finite.output();
                    for (int64_t row = 0; row < 300; row++)
                        for (int64_t d = 0; d < 128; d++) {
                            const double of_row = got.head(0, row, 0)[d];
                            if (row >= key && d == 3)
                                REQUIRE(!std::isfinite(of_row));
                            else
                                REQUIRE(of_row == expected.head(0, row, 0)[d]);
                        }
                });
            }
}

TEST_CASE("small scores: slopes with grouped heads, sinks, rotations and lengths of sequences") {
    AttentionCase c(AttentionShape().batches(2).lengths(120, 300).head_counts(4, 2).dims(64).of(GYRE_BF16));
    c.args.lse = nullptr;
    c.args.alibi = c.hold(GYRE_F32, {0.5, 0.25, 0.0625, 0});
    c.args.causal = 1;
    c.check();
    c.args.sinks = c.hold(GYRE_F32, {0.25, -1, 20, 0});
    c.check();
    c.args.seqused_k = c.hold(GYRE_I32, {130, 270});
    c.check();
    const gyre_rope rope = gyre_rope_defaults();
    c.args.rope = &rope;
    c.args.value_rope = &rope;
    c.check();
}
