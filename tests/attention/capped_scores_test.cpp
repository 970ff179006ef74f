/// gyre_attention() in bf16 with a cap alone, without lse, as attention/small_scores_test.cpp has it with ALiBi; and what concerns both.
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/paged_case.h"
#include "support/small_scores_case.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

} // namespace

TEST_CASE("capped scores: caps of every size, beside scores on both sides of the limits") {
    for (const int64_t head_dim : {128, 256})
        for (const double score : {1.0, 20.0, 43.0, 59.9, 60.1, 100.0, 1e3})
            for (const double cap : {1e-6, 0.5, 0.4 * score / log2_of_e, 0.5 * score / log2_of_e,
                                     0.99 * score / log2_of_e, 1.01 * score / log2_of_e, 30.0, 50.0, 1e4, 1e30}) {
                SmallCase c(60, 300, head_dim);
                c.set_scores(score);
                c.args.softcap = (float)cap;
                c.check();
            }
}

TEST_CASE("capped scores: caps with sinks, windows and grouped heads") {
    for (const float cap : {3.0f, 50.0f})
        for (const int64_t head_dim : {128, 256}) {
            AttentionCase c(AttentionShape().lengths(200, 350).head_counts(4, 2).dims(head_dim).of(GYRE_BF16));
            c.args.lse = nullptr;
            c.args.softcap = cap;
            c.args.causal = 1;
            c.check();
            c.args.window_left = 40;
            c.args.sinks = c.hold(GYRE_F32, {0.25, -1, 20, 0});
            c.check();
        }
}

TEST_CASE("small scores: what is no number in queries and keys reaches whom it concerns") {
    for (const bool capped : {false, true}) {
        SmallCase c(150, 150, 128), finite(150, 150, 128);
        for (SmallCase *each : {&c, &finite}) {
            if (capped)
                each->args.softcap = 30;
            else
                each->slopes(0.2, 0.1);
            each->args.causal = 1;
        }
        c.q.set({0, 17, 0, 5}, not_a_number);
        c.k.set({0, 120, 1, 9}, not_a_number);
        each_target([&](gyre_context *context) {
            REQUIRE(c.run(context) == GYRE_OK);
            REQUIRE(finite.run(context) == GYRE_OK);
            const Dense got = c.output(), expected = finite.output();
            for (int64_t row = 0; row < 150; row++)
                for (int64_t head = 0; head < 2; head++) {
                    const double of_row = got.head(0, row, head)[0];
                    if (head == 0 ? row == 17 : row >= 120)
                        REQUIRE(std::isnan(of_row));
                    else
                        REQUIRE(std::fabs(of_row - expected.head(0, row, head)[0]) < 0.02);
                }
        });
    }
}

TEST_CASE("small scores: keys in pages, and masks that come to ranges") {
    for (const bool capped : {false, true}) {
        PagedCase paged(AttentionShape().batches(2).lengths(90, 300).head_counts(2, 1).dims(128).of(GYRE_BF16), 32,
                        {300, 131});
        AttentionCase masked(AttentionShape().batches(2).lengths(300, 300).head_counts(2, 2).dims(128).of(GYRE_BF16));
        Tensor mask(GYRE_BOOL, {2, 1, 1, 300});
        for (int64_t key = 0; key < 300; key++) {
            mask.set({0, 0, 0, key}, key >= 70);
            mask.set({1, 0, 0, key}, key < 250);
        }
        masked.args.mask = masked.hold(std::move(mask));
        for (AttentionCase *c : {&paged.plain, &masked}) {
            c->args.lse = nullptr;
            c->args.causal = 1;
            if (capped)
                c->args.softcap = 20;
            else
                c->args.alibi = c->hold(GYRE_F32, {0.4, 0.02});
        }
        paged.check();
        masked.check();
    }
}

TEST_CASE("small scores: the same bits for any cut of the rows") {
    SmallCase sloped(500, 700, 64), capped(500, 700, 128);
    sloped.slopes(0.3, 0.01);
    capped.args.softcap = 40;
    for (SmallCase *c : {&sloped, &capped}) {
        c->set_key(390, 0, 12.0);
        c->args.causal = 1;
        c->check_threads({1, 2, 3, 8});
    }
}
