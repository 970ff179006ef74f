/// gyre_attention() where scores reach the sizes from which some targets no longer take powers of two as they are: on either
/// side of that limit, both in one call, and made longer by rotations.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double log2_e = 1.4426950408889634;

/// A call without lse, with which no powers are taken as they are.
struct BoundCase : AttentionCase {
    BoundCase(int64_t rows, int64_t keys, int64_t head_dim = 64)
        : AttentionCase(AttentionShape().lengths(rows, keys).head_counts(2, 1).dims(head_dim).of(GYRE_BF16)) {
        args.lse = nullptr;
    }
};

/// All features of a row.
void set_row(Tensor &tensor, int64_t row, int64_t head, double value) {
    for (int64_t d = 0; d < tensor.shape()[3]; d++) tensor.set({0, row, head, d}, value);
}

/// Keys that are all alike but for their sign, every fourth one negative.
void set_keys_alike(Tensor &k, double value) {
    for (int64_t key = 0; key < k.shape()[1]; key++) set_row(k, key, 0, key % 4 == 3 ? -value : value);
}

/// The scale that makes the score of two rows of ones so many units of log2(e).
float scale_for(double score, int64_t head_dim) { return (float)(score / log2_e / (double)head_dim); }

} // namespace

TEST_CASE("bound: scores as large as norms allow, of either sign, on both sides of the limit") {
    for (const int64_t head_dim : {32, 40, 64, 72, 80, 96, 128, 192, 256})
        for (const double score :
             {1.0, 20.0, 50.0, 59.0, 59.9, 60.0, 60.1, 64.0, 90.0, 120.0, 126.0, 127.0, 128.0, 200.0, 1e3})
            for (const double sign : {1.0, -1.0}) {
                BoundCase c(40, 300, head_dim);
                c.q.fill(1.0);
                set_keys_alike(c.k, sign);
                c.args.scale = scale_for(score, head_dim);
                c.roundings_of_score += (double)head_dim; // all products are alike
                c.check();
            }
}

TEST_CASE("bound: every row's own scores, whatever other rows of the call have") {
    for (const int64_t large : {0, 15, 16, 100, 199})
        for (const double factor : {100.0, 1e4, 1e15}) {
            BoundCase c(200, 500);
            for (int64_t d = 0; d < 64; d++) c.q.set({0, large, 1, d}, c.q.values()[(size_t)d] * factor);
            c.check();
        }
}

TEST_CASE("bound: a key that only late rows see, near and far") {
    for (const int64_t key : {100, 255, 256, 290})
        for (const double value : {10.0, 100.0, 1e6}) {
            BoundCase c(300, 300);
            set_row(c.k, key, 0, value);
            c.args.causal = 1;
            c.check();
        }
}

TEST_CASE("bound: what is infinite or no number in a row of queries stays there") {
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        for (const int64_t row : {0, 17, 99}) {
            BoundCase c(100, 300);
            BoundCase without(100, 300);
            c.q.set({0, row, 0, 5}, value);
            each_target([&](gyre_context *context) {
                REQUIRE(c.run(context) == GYRE_OK);
                REQUIRE(without.run(context) == GYRE_OK);
                const Dense got = c.output(), expected = without.output();
                const int64_t heads = 2, dim = 64;
                for (size_t i = 0; i < got.data.size(); i++) {
                    const auto of_row = (int64_t)i / (heads * dim) == row && (int64_t)i / dim % heads == 0;
                    if (of_row)
                        REQUIRE(!std::isfinite(got.data[i]));
                    else
                        REQUIRE(std::fabs(got.data[i] - expected.data[i]) < 0.02);
                }
            });
        }
}

TEST_CASE("bound: a key that is no number reaches every row that sees it") {
    BoundCase c(64, 300);
    c.k.set({0, 170, 0, 9}, std::numeric_limits<double>::quiet_NaN());
    each_target([&](gyre_context *context) {
        REQUIRE(c.run(context) == GYRE_OK);
        for (const double value : c.output().data) REQUIRE(std::isnan(value));
    });
}

TEST_CASE("bound: rotations that turn nothing and make queries and keys longer") {
    const std::vector<double> no_frequencies(32, 0.0);
    for (const double factor : {0.5, 2.0, 8.0, 64.0})
        for (const bool tables : {false, true}) {
            BoundCase c(40, 300);
            gyre_rope rope = gyre_rope_defaults();
            if (tables) {
                Tensor cosines(GYRE_F32, {300, 32}), sines(GYRE_F32, {300, 32});
                sines.fill(0.0);
                for (int64_t row = 0; row < 300; row++)
                    for (int64_t pair = 0; pair < 32; pair++) cosines.set({row, pair}, row < 200 ? 1 : factor);
                rope.cos = c.hold(std::move(cosines));
                rope.sin = c.hold(std::move(sines));
            } else {
                rope.inv_freq = no_frequencies.data();
                rope.attention_factor = factor;
            }
            c.args.rope = &rope;
            c.args.causal = 1;
            c.check();
        }
}

TEST_CASE("bound: features that are not rotated, beside rotated ones that a factor makes short") {
    const std::vector<double> no_frequencies(16, 0.0);
    for (const double score : {50.0, 100.0, 125.0, 127.5, 200.0}) {
        BoundCase c(40, 300);
        gyre_rope rope = gyre_rope_defaults();
        rope.rotary_dim = 32;
        rope.inv_freq = no_frequencies.data();
        rope.attention_factor = 0.03125;
        for (Tensor *rotated : {&c.q, &c.k}) rotated->fill(0.0);
        for (int64_t d = 32; d < 64; d++) {
            for (int64_t row = 0; row < 40; row++)
                for (int64_t head = 0; head < 2; head++) c.q.set({0, row, head, d}, 1.0);
            for (int64_t key = 0; key < 300; key++) c.k.set({0, key, 0, d}, key % 4 == 3 ? -1.0 : 1.0);
        }
        c.args.rope = &rope;
        c.args.scale = scale_for(score, 32);
        c.roundings_of_score += 32; // all products are alike
        c.check();
    }
}

TEST_CASE("bound: the same bits for any cut of the rows, with rows and keys of both kinds") {
    BoundCase c(500, 700);
    for (const int64_t row : {40, 41, 300, 499}) set_row(c.q, row, 1, 30.0);
    for (const int64_t key : {390, 650}) set_row(c.k, key, 0, 12.0);
    c.args.causal = 1;
    c.check_threads({1, 2, 3, 8});
}
