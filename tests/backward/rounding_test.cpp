/// Gradients where the forward pass rounds what it has rotated: they are those of the rounded numbers, whose lse it has written.
#include "support/backward_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/element.h"
#include "support/kernel_facts.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace gyre::test;

TEST_CASE(
    "backward: the only key that a row sees has weight 1, however large its score and whatever rotated numbers are "
    "rounded to") {
    for (const gyre_dtype dtype : {GYRE_BF16, GYRE_F32})
        for (const int64_t queries : {6, 40}) {
            BackwardCase c(AttentionShape().lengths(queries, 1).head_counts(2, 2).dims(64).of(dtype));
            c.forward.q.fill_normal(5, 8);
            c.forward.k.fill_normal(6, 8); // scores of some 64
            gyre_rope rope = gyre_rope_defaults();
            std::vector<double> positions;
            for (int64_t i = 0; i < queries; i++) positions.push_back((double)(100 + 7 * i));
            c.forward.args.rope = &rope;
            c.forward.args.q_positions = c.forward.hold(GYRE_I32, positions);
            c.forward.args.k_positions = c.forward.hold(GYRE_I32, {77});
            std::vector<double> expected(2 * 64), allowed(expected.size());
            for (int64_t i = 0; i < queries; i++)
                for (size_t n = 0; n < expected.size(); n++) {
                    const double grad = c.out_grad.values()[(size_t)i * expected.size() + n];
                    expected[n] += grad;
                    allowed[n] += 1e-4 * std::fabs(grad); // of scores of 64 in f32
                }
            for (size_t n = 0; n < expected.size(); n++) allowed[n] += rounding_of(dtype, expected[n]);
            each_target([&](gyre_context *context) {
                REQUIRE(c.run(context) == GYRE_OK);
                check_within("v_grad", c.v_grad.values(), expected, allowed);
            });
        }
}

TEST_CASE("backward: rotated queries of few rows a key head, in sequences of their own and beside longer ones") {
    for (const auto &lengths : {std::vector<double>{3}, {8}, {3, 8}, {8, 3}}) {
        CAPTURE(lengths.size());
        std::vector<double> ends = {0};
        for (const double length : lengths) ends.push_back(ends.back() + length);
        const auto queries = (int64_t)ends.back(), keys = 40 * (int64_t)lengths.size();
        BackwardCase c(AttentionShape().lengths(queries, keys).head_counts(2, 2).dims(64).of(GYRE_BF16).in(GYRE_THD));
        c.forward.q.fill_normal(5, 8); // roundings of rotated queries move weights by some percent
        gyre_rope rope = gyre_rope_defaults();
        c.forward.args.rope = &rope;
        c.forward.args.keys_rotated = 1;
        c.forward.args.cu_seqlens_q = c.forward.hold(GYRE_I32, ends);
        std::vector<double> k_ends;
        for (size_t i = 0; i < ends.size(); i++) k_ends.push_back(40 * (double)i);
        c.forward.args.cu_seqlens_k = c.forward.hold(GYRE_I32, k_ends);
        c.check();
    }
}

namespace {

/// Two sequences of so many rows a key head, and of so many keys. All keys of a sequence are alike, and scores of some 30.
void check_equal_keys(int64_t rows, int64_t head_dim, const std::vector<int64_t> &lengths) {
    const int64_t width = 2 * head_dim;
    INFO(rows, " rows of ", head_dim, ", ", lengths[0], " and ", lengths[1], " keys");
    const int64_t keys = lengths[0] + lengths[1];
    BackwardCase c(
        AttentionShape().lengths(2 * rows, keys).head_counts(2, 2).dims(head_dim).of(GYRE_BF16).in(GYRE_THD));
    c.forward.q.fill_normal(5, 8);
    c.forward.k.fill_normal(6, 8);
    for (int64_t j = 0; j < keys; j++)
        for (int64_t n = 0; n < width; n++)
            c.forward.k.set({j, n / head_dim, n % head_dim},
                            c.forward.k.get({j < lengths[0] ? 0 : lengths[0], n / head_dim, n % head_dim}));
    gyre_rope rope = gyre_rope_defaults();
    c.forward.args.rope = &rope;
    c.forward.args.keys_rotated = 1;
    c.forward.args.cu_seqlens_q = c.forward.hold(GYRE_I32, {0, (double)rows, (double)(2 * rows)});
    c.forward.args.cu_seqlens_k = c.forward.hold(GYRE_I32, {0, (double)lengths[0], (double)keys});
    const std::vector<double> grads = c.out_grad.values();
    std::vector<double> expected((size_t)(keys * width)), magnitudes(expected.size());
    for (int64_t j = 0; j < keys; j++) {
        const int64_t sequence = j < lengths[0] ? 0 : 1;
        for (int64_t n = 0; n < width; n++) {
            const auto at = (size_t)(j * width + n);
            for (int64_t i = sequence * rows; i < (sequence + 1) * rows; i++) {
                const double share = grads[(size_t)(i * width + n)] / (double)lengths[(size_t)sequence];
                expected[at] += share;
                magnitudes[at] += std::fabs(share);
            }
        }
    }
    each_target([&](gyre_context *context) {
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        // lse of weights that were rounded, and weights, all alike, that the kernel of gradients rounds
        const double error = 1e-3 + rounding_of_kernel(gyre_selected_kernel(context)).operands;
        std::vector<double> allowed(expected.size());
        for (size_t n = 0; n < allowed.size(); n++)
            allowed[n] = error * magnitudes[n] + rounding_of(GYRE_BF16, expected[n]);
        check_within("v_grad", c.v_grad.values(), expected, allowed);
    });
}

} // namespace

// Which kernels of the forward pass take 4 rows depends on a sequence's keys, and so does whether rotated queries are rounded.
TEST_CASE("backward: keys that are alike have the same weight, whatever rotated queries are rounded to, in sequences "
          "of few keys and of more") {
    for (const auto &lengths : {std::vector<int64_t>{100, 150}, {150, 100}, {200, 300}, {300, 200}})
        check_equal_keys(4, 64, lengths);
}

// 14 rows take kernels for many queries, unless keys are too many: then they are cut into parts.
TEST_CASE("backward: keys that are alike have the same weight in sequences that take kernels for many queries") {
    for (const auto &lengths : {std::vector<int64_t>{100, 150}, {100, 1100}, {1100, 1200}})
        check_equal_keys(14, 80, lengths);
}

// Two values that cancel but for what the weights are rounded to. Keys have a large feature in common, which no query sees, so
// that their gradients cancel, too, but for the error of delta.
TEST_CASE("backward: a result that is what rounded weights leave of terms that cancel") {
    BackwardCase c(AttentionShape().lengths(40, 2).head_counts(1, 1).dims(64).of(GYRE_BF16));
    c.forward.q.fill(1);
    for (int64_t i = 0; i < 40; i++) c.forward.q.set({0, i, 0, 0}, 0);
    for (int64_t d = 0; d < 64; d++) {
        c.forward.k.set({0, 0, 0, d}, d == 0 ? 100 : 0);
        c.forward.k.set({0, 1, 0, d}, d == 0 ? 100 : 8 * std::log(0.70508) / 63); // between two numbers of bf16
        const double value = c.forward.v.get({0, 0, 0, d});
        c.forward.v.set({0, 0, 0, d}, 0.703125 * value);
        c.forward.v.set({0, 1, 0, d}, -value);
    }
    c.check();
}

// Rotated keys are alike but for what they are rounded to, and gradients of scores sum to 0: what is left are the roundings.
TEST_CASE("backward: rotated keys that cancel but for what the forward pass rounds them to") {
    const int64_t keys = 6400, queries = 20; // so many that errors of weights all but cancel
    BackwardCase c(AttentionShape().lengths(queries, keys).head_counts(1, 1).dims(64).of(GYRE_BF16));
    gyre_rope rope = gyre_rope_defaults();
    rope.rotary_dim = 2; // by a radian a token
    c.forward.args.rope = &rope;
    c.forward.q.fill(0);
    c.forward.k.fill(0);
    c.forward.v.fill(0);
    c.out_grad.fill(0);
    std::vector<std::pair<double, int64_t>> roundings;
    for (int64_t j = 0; j < keys; j++) {
        const double cos = std::cos((double)j), sin = std::sin((double)j);
        c.forward.k.set({0, j, 0, 0}, 140 * cos);
        c.forward.k.set({0, j, 0, 1}, -140 * sin);
        const double turned = cos * c.forward.k.get({0, j, 0, 0}) - sin * c.forward.k.get({0, j, 0, 1});
        roundings.emplace_back(rounded(GYRE_BF16, turned) - turned, j);
    }
    std::sort(roundings.begin(), roundings.end());
    for (int64_t n = 0; n < keys; n++) c.forward.v.set({0, roundings[(size_t)n].second, 0, 0}, n < keys / 2 ? -1 : 1);
    for (int64_t i = 0; i < queries; i++) c.out_grad.set({0, i, 0, 0}, 1);
    c.check();
}
