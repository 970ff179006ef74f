/// Which keys a query sees: causal, window, key lengths, packed sequences; and rows that see none.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/random.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<gyre_alignment> alignments = {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT};

/// Fills the keys and values that must not be read with NaN.
void poison_unused_keys(AttentionCase &c, const std::vector<double> &used) {
    for (Tensor *tensor : {&c.k, &c.v})
        for (int64_t b = 0; b < c.shape.batch; b++)
            for (auto token = (int64_t)used[(size_t)b]; token < c.shape.seqlen_kv; token++)
                for (int64_t h = 0; h < c.shape.kv_heads; h++)
                    for (int64_t d = 0; d < tensor->shape()[3]; d++) tensor->set({b, token, h, d}, std::nan(""));
}

void set_sequences(AttentionCase &c, const std::vector<double> &cu_q, const std::vector<double> &cu_k) {
    c.args.cu_seqlens_q = c.hold(GYRE_I32, cu_q);
    c.args.cu_seqlens_k = c.hold(GYRE_I32, cu_k);
}

} // namespace

TEST_CASE("causal in both alignments with fewer, as many and more queries than keys") {
    for (const gyre_alignment alignment : alignments)
        for (const auto &lengths : std::vector<std::pair<int64_t, int64_t>>{{1, 1},
                                                                            {5, 130},
                                                                            {64, 65},
                                                                            {130, 130},
                                                                            {200, 257},
                                                                            {65, 64},
                                                                            {130, 7},
                                                                            {257, 200},
                                                                            {33, 1},
                                                                            {300, 64}})
            for (const int64_t head_dim : {24, 64}) {
                AttentionCase c(
                    AttentionShape().lengths(lengths.first, lengths.second).head_counts(2, 1).dims(head_dim));
                c.args.causal = 1;
                c.args.alignment = alignment;
                c.check();
            }
}

TEST_CASE("windows on either side, in both alignments, with causal and without") {
    const std::vector<int64_t> widths = {-1, 0, 1, 30, 64, 1000};
    for (const gyre_alignment alignment : alignments)
        for (const int causal : {0, 1})
            for (const int64_t left : widths)
                for (const int64_t right : widths)
                    for (const auto &lengths :
                         std::vector<std::pair<int64_t, int64_t>>{{130, 130}, {70, 190}, {190, 70}}) {
                        AttentionCase c(AttentionShape().lengths(lengths.first, lengths.second).dims(16));
                        c.args.causal = causal;
                        c.args.alignment = alignment;
                        c.args.window_left = left;
                        c.args.window_right = right;
                        c.check();
                    }
}

TEST_CASE("windows as wide as int64 reaches do not overflow") {
    const int64_t widest = std::numeric_limits<int64_t>::max();
    for (const auto &lengths : std::vector<std::pair<int64_t, int64_t>>{{20, 30}, {30, 20}, {200, 100}}) {
        AttentionCase c(AttentionShape().lengths(lengths.first, lengths.second).dims(16));
        c.args.window_left = c.args.window_right = widest;
        c.check();
        c.args.window_right = -1;
        c.check();
        c.args.window_left = -1;
        c.args.window_right = widest - 150;
        c.check();
    }
}

TEST_CASE("a narrow window over a long sequence") {
    AttentionCase c(AttentionShape().lengths(1024, 1024).dims(64));
    c.args.causal = 1;
    c.args.window_left = 100;
    c.check();
}

TEST_CASE("seqused_k: only the keys that exist count, none may, and NaN behind them does not leak") {
    for (const gyre_alignment alignment : alignments)
        for (const int causal : {0, 1})
            for (const int64_t head_dim : {64, 72}) {
                const std::vector<double> used = {130, 0, 1, 64, 65, 129};
                AttentionCase c(AttentionShape().batches(6).lengths(3, 130).head_counts(2, 1).dims(head_dim));
                c.args.causal = causal;
                c.args.alignment = alignment;
                c.args.seqused_k = c.hold(GYRE_I32, used);
                poison_unused_keys(c, used);
                c.check();
            }
}

TEST_CASE("seqused_k with more queries than keys, and a window") {
    for (const gyre_alignment alignment : alignments) {
        const std::vector<double> used = {10, 40, 0};
        AttentionCase c(AttentionShape().batches(3).lengths(33, 40).dims(32));
        c.args.causal = 1;
        c.args.alignment = alignment;
        c.args.window_left = 7;
        c.args.seqused_k = c.hold(GYRE_I32, used);
        poison_unused_keys(c, used);
        c.check();
    }
}

TEST_CASE("packed sequences, empty ones among them") {
    for (const int causal : {0, 1})
        for (const int64_t head_dim : {64, 72}) {
            AttentionCase c(AttentionShape().lengths(150, 260).head_counts(4, 2).dims(head_dim).in(GYRE_THD));
            set_sequences(c, {0, 0, 7, 71, 71, 136, 150}, {0, 65, 72, 72, 100, 259, 260});
            c.args.causal = causal;
            c.check();
        }
}

TEST_CASE("packed sequences give the bits of the same sequences alone") {
    AttentionCase packed(AttentionShape().lengths(150, 150).head_counts(2, 2).dims(64).in(GYRE_THD));
    const std::vector<double> bounds = {0, 40, 58, 150}; // all of more queries than are few: these take other kernels
    set_sequences(packed, bounds, bounds);
    packed.args.causal = 1;
    each_target([&](gyre_context *context) {
        REQUIRE_MESSAGE(packed.run(context) == GYRE_OK, text(gyre_last_error()));
        const Dense all = packed.output();
        for (size_t s = 0; s + 1 < bounds.size(); s++) {
            const auto begin = (int64_t)bounds[s], length = (int64_t)bounds[s + 1] - begin;
            AttentionCase alone(AttentionShape().lengths(length, length).head_counts(2, 2).dims(64));
            alone.args.q.data = (float *)packed.args.q.data + begin * packed.args.q.strides[0];
            alone.args.k.data = (float *)packed.args.k.data + begin * packed.args.k.strides[0];
            alone.args.v.data = (float *)packed.args.v.data + begin * packed.args.v.strides[0];
            alone.args.causal = 1;
            REQUIRE_MESSAGE(alone.run(context) == GYRE_OK, text(gyre_last_error()));
            const auto first = all.data.begin() + begin * 2 * 64;
            CHECK(alone.output().data == std::vector<double>(first, first + length * 2 * 64));
        }
    });
}

TEST_CASE("packed sequences of no token at all") {
    AttentionCase c(AttentionShape().lengths(0, 0).dims(64).in(GYRE_THD));
    set_sequences(c, {0, 0, 0}, {0, 0, 0});
    c.check();
    AttentionCase without_keys(AttentionShape().lengths(5, 0).dims(64).in(GYRE_THD));
    set_sequences(without_keys, {0, 2, 5}, {0, 0, 0});
    without_keys.check();
}

TEST_CASE("packed sequences in any strides") {
    AttentionCase c(
        AttentionShape().lengths(50, 60).head_counts(4, 2).dims(40).in(GYRE_THD, Placement::ordered({1, 0, 2}, 5)));
    set_sequences(c, {0, 20, 50}, {0, 45, 60});
    c.check();
}

TEST_CASE("a row that sees no key gives exactly 0 and -inf, whatever the values hold") {
    for (const int64_t head_dim : {64, 72})
        for (const int rotated : {0, 1}) {
            AttentionCase c(AttentionShape().lengths(100, 10).head_counts(2, 1).dims(head_dim));
            const gyre_rope rope = gyre_rope_defaults();
            c.args.causal = 1; // bottom right: the first 90 queries see nothing
            Tensor positions(GYRE_I32, {100});
            positions.fill_uniform_integers(1, 0, 100);
            if (rotated) {
                c.args.rope = c.args.value_rope = &rope;
                c.args.q_positions = c.hold(std::move(positions));
            }
            c.args.sinks = rotated ? nullptr : c.hold(GYRE_F32, {0.5, -2});
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                int64_t wrong = 0;
                for (int64_t i = 0; i < 90; i++)
                    for (int64_t h = 0; h < 2; h++) {
                        wrong += c.lse.get({0, h, i}) != -infinity;
                        for (int64_t d = 0; d < head_dim; d++) wrong += c.out.get({0, i, h, d}) != 0;
                    }
                CHECK(wrong == 0);
            });
            c.check();
        }
}
