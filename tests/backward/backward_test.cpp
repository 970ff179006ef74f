/// gyre_attention_backward() against the oracle, over extents, options, types and layouts; and the oracle against central
/// differences of the forward one.
#include "support/backward_case.h"
#include "support/central_differences.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/random.h"

#include <cmath>
#include <utility>

using namespace gyre::test;

namespace {

/// sum of out * weights, of the forward oracle.
double loss(const gyre_attention_args &args, const Dense &weights) {
    const OracleAttention result = oracle_attention(args);
    double sum = 0;
    for (size_t n = 0; n < weights.data.size(); n++) sum += result.out.data[n] * weights.data[n];
    return sum;
}

} // namespace

TEST_CASE("backward: the oracle's gradients are the forward oracle's central differences") {
    gyre_rope rope = gyre_rope_defaults();
    rope.theta = 100;
    rope.attention_factor = 1.25;
    gyre_rope partial = rope;
    partial.rotary_dim = 4;
    partial.pairing = GYRE_INTERLEAVED;
    for (int option = 0; option < 6; option++) {
        AttentionCase c(AttentionShape().batches(2).lengths(5, 7).head_counts(4, 2).dims(6, 8).of(GYRE_F64), 7);
        c.args.causal = option != 0;
        if (option == 2) c.args.softcap = 1.5f;
        if (option == 3) {
            c.args.rope = &rope;
            c.args.value_rope = &partial;
        }
        if (option == 4) {
            c.args.rope = &partial;
            c.args.value_rope = &rope;
            c.args.keys_rotated = c.args.values_rotated = 1;
        }
        if (option == 5) {
            c.args.alibi = c.hold(GYRE_F32, {0.5, -0.25, 1, 2});
            c.args.seqused_k = c.hold(GYRE_I32, {4, 7});
            c.args.window_left = 3;
        }
        CAPTURE(c.describe());
        Tensor out_grad(c.out);
        out_grad.fill_normal(99);
        const OracleBackward expected = oracle_backward(c.args, out_grad.view());
        const Dense weights(out_grad.view(), c.args.layout);
        constexpr double step = 1e-4;
        const auto of_oracle = [&] { return loss(c.args, weights); };
        check_close("q", expected.q.exact.data, central_differences(c.q, step, of_oracle), 2e-7);
        check_close("k", expected.k.exact.data, central_differences(c.k, step, of_oracle), 2e-7);
        check_close("v", expected.v.exact.data, central_differences(c.v, step, of_oracle), 2e-7);
    }
}

TEST_CASE("backward: the reverse rotation is the gradient of gyre_rotary()") {
    // <R x, y> is linear in x: its gradient is R^T y, whatever x is.
    for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
        each_target([&](gyre_context *context) {
            Tensor x(GYRE_F32, {2, 5, 3, 24}), y(x), out(x), gradient(x);
            x.fill_normal(1);
            y.fill_normal(2);
            gyre_rotary_args args = gyre_rotary_defaults();
            args.rope.pairing = pairing;
            args.rope.rotary_dim = 16;
            args.rope.rotary_offset = 4;
            args.rope.attention_factor = 1.5;
            args.x = y.view();
            args.out = gradient.view();
            args.reverse = 1;
            REQUIRE(gyre_rotary(context, &args) == GYRE_OK);
            const std::vector<double> weights = y.values();
            args.x = x.view();
            args.out = out.view();
            args.reverse = 0;
            const auto loss = [&] {
                REQUIRE(gyre_rotary(context, &args) == GYRE_OK);
                const std::vector<double> rotated = out.values();
                double sum = 0;
                for (size_t n = 0; n < rotated.size(); n++) sum += rotated[n] * weights[n];
                return sum;
            };
            check_close("gradient", gradient.values(), central_differences(x, 1, loss),
                        5e-5); // of sums of 720 terms in f32
        });
}

TEST_CASE("backward: every kind of head_dim, with causal and without") {
    for (const int64_t head_dim : {1, 2, 10, 32, 33, 64, 80, 128, 200, 256, 512})
        for (const int causal : {0, 1})
            for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
                BackwardCase c(AttentionShape().lengths(14, 40).head_counts(2, 1).dims(head_dim).of(dtype));
                c.forward.args.causal = causal;
                c.check();
            }
}

TEST_CASE("backward: v_head_dim differs from head_dim") {
    const int64_t pairs[][2] = {{8, 10}, {10, 8}, {64, 32}, {32, 64}, {64, 128}, {192, 128}, {72, 200}};
    for (const auto &dims : pairs)
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16})
            BackwardCase(AttentionShape().lengths(17, 65).dims(dims[0], dims[1]).of(dtype)).check();
}

TEST_CASE("backward: every pair of lengths, with causal and without") {
    for (const int64_t seqlen_q : {0, 1, 12, 13, 96, 97, 200})
        for (const int64_t seqlen_kv : {0, 1, 11, 12, 95, 96, 200})
            for (const int causal : {0, 1}) {
                BackwardCase c(AttentionShape().lengths(seqlen_q, seqlen_kv).dims(32));
                c.forward.args.causal = causal;
                c.check();
            }
}

TEST_CASE("backward: every pair of lengths around blocks of pairs of bf16") {
    for (const int64_t seqlen_q : {1, 7, 8, 9, 191, 192, 193})
        for (const int64_t seqlen_kv : {1, 15, 16, 17, 31, 33, 191, 192, 193})
            for (const int causal : {0, 1}) {
                BackwardCase c(AttentionShape().lengths(seqlen_q, seqlen_kv).dims(32).of(GYRE_BF16));
                c.forward.args.causal = causal;
                c.check();
            }
}

TEST_CASE("backward: windows on either side, both alignments") {
    for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT})
        for (const int64_t left : {-1, 0, 40, 150})
            for (const int64_t right : {-1, 0, 130})
                for (const auto &[seqlen_q, dtype] : {std::pair<int64_t, gyre_dtype>{60, GYRE_F32},
                                                      {230, GYRE_F32},
                                                      {60, GYRE_BF16},
                                                      {230, GYRE_BF16}}) {
                    BackwardCase c(AttentionShape().lengths(seqlen_q, 220).dims(32).of(dtype));
                    c.forward.args.alignment = alignment;
                    c.forward.args.window_left = left;
                    c.forward.args.window_right = right;
                    c.check();
                }
}

TEST_CASE("backward: grouped and multi-query heads, batches, layouts and strides") {
    const int64_t counts[][2] = {{1, 1}, {4, 2}, {6, 2}, {5, 1}, {9, 3}};
    for (const auto &heads : counts)
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
            for (const int64_t gap : {0, 5}) {
                BackwardCase c(AttentionShape()
                                   .batches(2)
                                   .lengths(40, 110)
                                   .head_counts(heads[0], heads[1])
                                   .dims(32)
                                   .in(layout, Placement::with_gaps(gap)));
                c.forward.args.causal = 1;
                c.check();
            }
}

TEST_CASE("backward: RoPE and RoPER, both pairings, parts of heads, positions, factors, keys and values as rotated") {
    for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
        for (const int32_t rotary_dim : {0, 6})
            for (const int rotated : {0, 1, 2, 3})  // of keys, of values
                for (const int which : {1, 2, 3}) { // rope, value_rope, both
                    BackwardCase c(AttentionShape().batches(2).lengths(50, 110).head_counts(4, 2).dims(40, 32));
                    gyre_attention_args &args = c.forward.args;
                    gyre_rope rope = gyre_rope_defaults();
                    rope.pairing = pairing;
                    rope.rotary_dim = rotary_dim;
                    rope.attention_factor = 1.125;
                    if (which & 1) args.rope = c.forward.hold(rope);
                    rope.theta = 500;
                    if (which & 2) args.value_rope = c.forward.hold(rope);
                    args.keys_rotated = (rotated & 1) && args.rope;
                    args.values_rotated = (rotated & 2) && args.value_rope;
                    args.causal = 1;
                    if (rotated == 0) {
                        Tensor q_positions(GYRE_I32, {2, 50}), k_positions(GYRE_I64, {110});
                        q_positions.fill_uniform_integers(3, 0, 100000);
                        k_positions.fill_uniform_integers(4, 0, 100000);
                        args.q_positions = c.forward.hold(q_positions);
                        args.k_positions = c.forward.hold(k_positions);
                    }
                    c.check();
                }
}

TEST_CASE("backward: key lengths, packed sequences, and what nobody sees gets 0") {
    BackwardCase used(AttentionShape().batches(3).lengths(30, 130).head_counts(2, 1).dims(32));
    used.forward.args.seqused_k = used.forward.hold(GYRE_I32, {0, 97, 130});
    used.check();
    used.forward.args.causal = 1; // and the first entry's queries see no key
    used.check();
    BackwardCase packed(AttentionShape().lengths(150, 260).head_counts(4, 2).dims(32).in(GYRE_THD));
    packed.forward.args.cu_seqlens_q = packed.forward.hold(GYRE_I32, {0, 0, 20, 120, 150});
    packed.forward.args.cu_seqlens_k = packed.forward.hold(GYRE_I32, {0, 30, 90, 230, 260});
    packed.forward.args.causal = 1;
    packed.check();
    const gyre_rope rope = gyre_rope_defaults();
    packed.forward.args.rope = packed.forward.args.value_rope = &rope;
    packed.check();
    packed.forward.args.seqused_k = packed.forward.hold(GYRE_I32, {0, 25, 140, 30});
    packed.check();
}

TEST_CASE("backward: softcap, ALiBi and scales") {
    for (const float softcap : {0.0f, 0.7f, 30.0f})
        for (const float scale : {0.0f, 1.0f, -0.3f})
            for (const int alibi : {0, 1, 2, 3}) {
                const gyre_dtype dtype = alibi < 2 ? GYRE_F32 : GYRE_BF16;
                BackwardCase c(AttentionShape().lengths(60, 150).head_counts(2, 2).dims(32).of(dtype));
                c.forward.args.causal = 1;
                c.forward.args.softcap = softcap;
                c.forward.args.scale = scale;
                if (alibi % 2) c.forward.args.alibi = c.forward.hold(GYRE_F32, {0.25, -0.125});
                c.check();
            }
}

TEST_CASE("backward: bf16 and f16") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const gyre_dtype dtype : {GYRE_BF16, GYRE_F16})
        for (const int64_t head_dim : {32, 64, 72})
            for (const int rotated : {0, 1}) {
                BackwardCase c(AttentionShape().lengths(60, 150).head_counts(4, 2).dims(head_dim).of(dtype));
                c.forward.args.causal = 1;
                if (rotated) c.forward.args.rope = c.forward.args.value_rope = &rope;
                c.check();
            }
}

TEST_CASE("backward: 1024 tokens") {
    for (const int causal : {0, 1}) {
        BackwardCase c(AttentionShape().lengths(1024, 1024).dims(64).of(causal ? GYRE_BF16 : GYRE_F32));
        c.forward.args.causal = causal;
        c.check();
    }
}

TEST_CASE("backward: random combinations of all options match the oracle") {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        CAPTURE(seed);
        Random random(seed);
        const int64_t kv_heads = random.integer(1, 3), keys = random.integer(1, 250), queries = random.integer(1, keys);
        const int64_t head_dim = random.pick<int64_t>({4, 16, 32, 33, 64, 80});
        BackwardCase c(
            AttentionShape()
                .batches(random.integer(1, 3))
                .lengths(queries, keys)
                .head_counts(kv_heads * random.integer(1, 3), kv_heads)
                .dims(head_dim, random.chance(0.6) ? head_dim : random.integer(2, 100))
                .of(random.chance(0.7) ? GYRE_F32 : GYRE_BF16)
                .in(random.pick<gyre_layout>({GYRE_BSHD, GYRE_BHSD}), Placement::with_gaps(random.integer(0, 4))),
            seed);
        gyre_attention_args &args = c.forward.args;
        args.causal = random.chance(0.5);
        args.alignment = random.chance(0.7) ? GYRE_BOTTOM_RIGHT : GYRE_TOP_LEFT;
        if (random.chance(0.3)) args.window_left = random.integer(0, 120);
        if (random.chance(0.3)) args.window_right = random.integer(0, 120);
        if (random.chance(0.3)) args.softcap = (float)(0.5 + 20 * random.uniform());
        if (random.chance(0.3)) {
            std::vector<double> slopes, used;
            for (int64_t h = 0; h < c.forward.shape.heads; h++) slopes.push_back(random.normal() / 8);
            for (int64_t b = 0; b < c.forward.shape.batch; b++) used.push_back((double)random.integer(queries, keys));
            args.alibi = c.forward.hold(GYRE_F32, slopes);
            args.seqused_k = c.forward.hold(GYRE_I32, used);
        }
        const auto draw = [&](int64_t dim) {
            gyre_rope rope = gyre_rope_defaults();
            rope.pairing = random.pick<gyre_pairing>({GYRE_HALF, GYRE_INTERLEAVED});
            rope.rotary_dim = (int32_t)(2 * random.integer(1, dim / 2));
            return c.forward.hold(rope);
        };
        if (random.chance(0.4)) args.rope = draw(c.forward.shape.head_dim);
        if (random.chance(0.4)) args.value_rope = draw(c.forward.shape.v_head_dim);
        c.check();
    }
}
