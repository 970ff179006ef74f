/// Rotary and reverse-rotary embedding inside gyre_attention().
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/rotary_case.h"

using namespace gyre::test;

namespace {

const std::vector<gyre_pairing> pairings = {GYRE_HALF, GYRE_INTERLEAVED};

gyre_rope make_rope(gyre_pairing pairing, int32_t rotary_dim = 0, double theta = 10000.0) {
    gyre_rope rope = gyre_rope_defaults();
    rope.pairing = pairing;
    rope.rotary_dim = rotary_dim;
    rope.theta = theta;
    return rope;
}

/// The keys or values as gyre_rotary() leaves them at positions 0, 1, 2 …
void rotate_in_place(gyre_context *context, Tensor &tensor, gyre_layout layout, const gyre_rope &rope) {
    gyre_rotary_args args = gyre_rotary_defaults();
    args.layout = layout;
    args.x = args.out = tensor.view();
    args.rope = rope;
    REQUIRE_MESSAGE(gyre_rotary(context, &args) == GYRE_OK, text(gyre_last_error()));
}

} // namespace

TEST_CASE("RoPE, RoPER and both, for every kind of head_dim and pairing") {
    for (const int64_t head_dim : {2, 8, 10, 32, 64, 72, 80, 96, 128, 200, 256, 512})
        for (const gyre_pairing pairing : pairings)
            for (const int rotated : {1, 2, 3}) {
                const gyre_rope rope = make_rope(pairing);
                AttentionCase c(AttentionShape().lengths(33, 70).head_counts(2, 1).dims(head_dim));
                c.args.causal = 1;
                if (rotated & 1) c.args.rope = &rope;
                if (rotated & 2) c.args.value_rope = &rope;
                c.check();
            }
}

TEST_CASE("queries, keys and values may pair and turn differently, on a part of the head") {
    for (const gyre_pairing of_scores : pairings)
        for (const gyre_pairing of_values : pairings)
            for (const auto &dims :
                 std::vector<std::pair<int64_t, int64_t>>{{64, 64}, {64, 96}, {80, 40}, {128, 128}}) {
                const gyre_rope rope = make_rope(of_scores, (int32_t)dims.first / 4 * 2);
                const gyre_rope value_rope = make_rope(of_values, 18, 500.0);
                AttentionCase c(
                    AttentionShape().batches(2).lengths(40, 66).head_counts(4, 2).dims(dims.first, dims.second));
                c.args.rope = &rope;
                c.args.value_rope = &value_rope;
                c.check();
            }
}

TEST_CASE("odd head_dim with a rotated part") {
    const gyre_rope rope = make_rope(GYRE_HALF, 6), value_rope = make_rope(GYRE_INTERLEAVED, 4);
    AttentionCase c(AttentionShape().lengths(20, 20).dims(7, 5));
    c.args.rope = &rope;
    c.args.value_rope = &value_rope;
    c.check();
}

TEST_CASE("frequencies from inv_freq, from tables, over the head, with an attention factor") {
    std::vector<double> inv_freq;
    for (int i = 0; i < 16; i++) inv_freq.push_back(1.0 / (1 + 3 * i));
    for (const int64_t head_dim : {64, 72}) {
        gyre_rope rope = make_rope(GYRE_HALF, 32), value_rope = make_rope(GYRE_HALF, 32);
        AttentionCase c(AttentionShape().lengths(40, 66).dims(head_dim));
        c.args.rope = &rope;
        c.args.value_rope = &value_rope;
        rope.frequency_base = GYRE_OVER_HEAD_DIM;
        rope.attention_factor = 1.25;
        value_rope.attention_factor = 1.25; // not applied to values
        c.check();
        rope.inv_freq = value_rope.inv_freq = inv_freq.data();
        c.check();

        Tensor cosines(GYRE_F32, {100, 16}), sines(GYRE_F32, {100, 16}, Placement::with_gaps(3));
        for (int64_t row = 0; row < 100; row++)
            for (int64_t pair = 0; pair < 16; pair++) {
                cosines.set({row, pair}, std::cos((double)(row * (pair + 1)) / 50));
                sines.set({row, pair}, std::sin((double)(row * (pair + 1)) / 50));
            }
        rope.cos = value_rope.cos = c.hold(std::move(cosines));
        rope.sin = value_rope.sin = c.hold(std::move(sines));
        c.check();
    }
}

TEST_CASE("the second form, sum_j P_ij R(j - i) v_j, gives the same output") {
    for (const gyre_pairing pairing : pairings)
        for (const int causal : {0, 1})
            for (const int64_t head_dim : {32, 40}) {
                const gyre_rope rope = make_rope(pairing), value_rope = make_rope(pairing, 24, 700.0);
                AttentionCase c(AttentionShape().batches(2).lengths(20, 37).head_counts(2, 1).dims(head_dim));
                c.args.causal = causal;
                c.args.rope = &rope;
                c.args.value_rope = &value_rope;
                c.check_output(oracle_attention_second_form(c.args), 4e-6);
            }
}

TEST_CASE("a cache of keys and values that are rotated already") {
    for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
        for (const int64_t head_dim : {64, 72}) {
            const gyre_rope rope = make_rope(GYRE_HALF), value_rope = make_rope(GYRE_INTERLEAVED, 32);
            AttentionCase c(AttentionShape().batches(2).lengths(3, 66).head_counts(4, 2).dims(head_dim).in(layout));
            c.args.causal = 1;
            c.args.rope = &rope;
            c.args.value_rope = &value_rope;
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                AttentionCase cached(c.shape);
                cached.args.causal = 1;
                cached.args.rope = &rope;
                cached.args.value_rope = &value_rope;
                cached.args.keys_rotated = cached.args.values_rotated = 1;
                rotate_in_place(context, cached.k, layout, rope);
                rotate_in_place(context, cached.v, layout, value_rope);
                REQUIRE_MESSAGE(cached.run(context) == GYRE_OK, text(gyre_last_error()));
                check_close("out", cached.out.values(), c.out.values(), 2e-6);
                check_close("out", Dense(cached.out.view(), layout).data, oracle_attention(cached.args).out.data, 4e-6);
            });
        }
}

TEST_CASE("a cache of which keys or values alone are rotated already, by the same rotation") {
    const gyre_rope rope = make_rope(GYRE_HALF);
    for (const bool keys : {false, true})
        for (const bool values : {false, true})
            for (const int64_t queries : {3, 40}) {
                AttentionCase c(AttentionShape().batches(2).lengths(queries, 66).head_counts(4, 2).dims(64));
                c.args.causal = 1;
                c.args.rope = c.args.value_rope = &rope;
                c.args.keys_rotated = keys;
                c.args.values_rotated = values;
                c.check();
            }
}

TEST_CASE("rotating inside is rotating outside") {
    const gyre_rope rope = make_rope(GYRE_HALF, 48);
    AttentionCase inside(AttentionShape().batches(2).lengths(50, 50).head_counts(2, 2).dims(64));
    inside.args.rope = &rope;
    each_target([&](gyre_context *context) {
        REQUIRE(inside.run(context) == GYRE_OK);
        AttentionCase outside(inside.shape);
        rotate_in_place(context, outside.q, GYRE_BSHD, rope);
        rotate_in_place(context, outside.k, GYRE_BSHD, rope);
        REQUIRE(outside.run(context) == GYRE_OK);
        check_close("out", outside.out.values(), inside.out.values(), 2e-6);
    });
}

TEST_CASE("the promised error at 1024 tokens with RoPE and RoPER") {
    const gyre_rope rope = make_rope(GYRE_HALF);
    for (const int64_t head_dim : {64, 128}) {
        AttentionCase c(AttentionShape().lengths(1024, 1024).dims(head_dim));
        c.args.causal = 1;
        c.args.rope = c.args.value_rope = &rope;
        c.check(2e-6);
    }
}
