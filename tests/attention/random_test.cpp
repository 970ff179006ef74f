/// Random combinations of all options of gyre_attention() against the oracle; a failure prints its seed.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/random.h"

using namespace gyre::test;

namespace {

/// A case drawn from one seed, one group of options after another.
class RandomCase {
public:
    explicit RandomCase(uint64_t seed)
        : seed(seed), random(seed), packed(random.chance(0.2)), c(draw_shape(), seed), batch(c.shape.batch),
          heads(c.shape.heads), seqlen_q(c.shape.seqlen_q), seqlen_kv(c.shape.seqlen_kv) {
        draw_visibility();
        draw_sequences();
        draw_scores();
        draw_rotations();
    }

    void check() { c.check(); }

private:
    AttentionShape draw_shape() {
        const int64_t kv_heads = random.integer(1, 3), per_group = random.integer(1, 3);
        const int64_t head_dim = random.pick<int64_t>({4, 16, 32, 33, 64, 80, 96, 128});
        const int64_t v_head_dim = random.chance(0.6) ? head_dim : random.integer(2, 100);
        const int64_t keys = random.integer(1, 150), queries = random.integer(1, keys);
        const gyre_layout layout = packed ? GYRE_THD : random.pick<gyre_layout>({GYRE_BSHD, GYRE_BHSD});
        return AttentionShape()
            .batches(packed ? 1 : random.integer(1, 3))
            .lengths(queries, keys)
            .head_counts(kv_heads * per_group, kv_heads)
            .dims(head_dim, v_head_dim)
            .in(layout, Placement::with_gaps(random.integer(0, 4)));
    }

    void draw_visibility() {
        c.args.causal = random.chance(0.5);
        c.args.alignment = random.chance(0.7) ? GYRE_BOTTOM_RIGHT : GYRE_TOP_LEFT;
        if (random.chance(0.3)) c.args.window_left = random.integer(0, 80);
        if (random.chance(0.3)) c.args.window_right = random.integer(0, 80);
    }

    /// No sequence has more queries than keys, so that no query stands before the first key.
    void draw_sequences() {
        if (packed) {
            const int64_t q_split = random.integer(0, seqlen_q);
            const int64_t k_split = random.integer(q_split, seqlen_kv - (seqlen_q - q_split));
            c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, (double)q_split, (double)seqlen_q});
            c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, (double)k_split, (double)seqlen_kv});
        } else if (random.chance(0.3)) {
            std::vector<double> used;
            for (int64_t b = 0; b < batch; b++) used.push_back((double)random.integer(seqlen_q, seqlen_kv));
            c.args.seqused_k = c.hold(GYRE_I32, used);
        }
    }

    void draw_scores() {
        if (random.chance(0.3)) c.args.scale = (float)random.uniform();
        if (random.chance(0.3)) c.args.softcap = (float)(0.5 + 20 * random.uniform());
        if (random.chance(0.25)) c.args.sinks = draw_per_head();
        if (random.chance(0.25)) c.args.alibi = draw_per_head();
        if (!packed && random.chance(0.3)) {
            Tensor bias(random.pick<gyre_dtype>({GYRE_F32, GYRE_F16, GYRE_BF16}), draw_broadcast_shape());
            bias.fill_normal(seed);
            c.args.bias = c.hold(std::move(bias));
        }
        if (!packed && random.chance(0.3)) {
            Tensor mask(GYRE_BOOL, draw_broadcast_shape());
            mask.fill_uniform_integers(seed, 0, 2); // two thirds true
            c.args.mask = c.hold(std::move(mask));
        }
    }

    void draw_rotations() {
        if (random.chance(0.4)) c.args.rope = draw_rope(c.shape.head_dim);
        if (random.chance(0.4)) c.args.value_rope = draw_rope(c.shape.v_head_dim);
        c.args.keys_rotated = c.args.rope && random.chance(0.2);
        c.args.values_rotated = c.args.value_rope && random.chance(0.2);
        if ((c.args.rope || c.args.value_rope) && random.chance(0.5)) {
            c.args.q_positions = draw_positions(seqlen_q);
            c.args.k_positions = draw_positions(seqlen_kv);
        }
    }

    const gyre_tensor *draw_per_head() {
        std::vector<double> values;
        for (int64_t h = 0; h < heads; h++) values.push_back(random.normal());
        return c.hold(GYRE_F32, values);
    }

    std::vector<int64_t> draw_broadcast_shape() {
        std::vector<int64_t> shape;
        for (const int64_t extent : {batch, heads, seqlen_q, seqlen_kv})
            shape.push_back(random.chance(0.7) ? extent : 1);
        return shape;
    }

    const gyre_rope *draw_rope(int64_t dim) {
        gyre_rope rope = gyre_rope_defaults();
        rope.pairing = random.pick<gyre_pairing>({GYRE_HALF, GYRE_INTERLEAVED});
        rope.rotary_dim = (int32_t)(2 * random.integer(1, dim / 2));
        rope.theta = random.pick<double>({100, 10000, 1e6});
        return c.hold(rope);
    }

    const gyre_tensor *draw_positions(int64_t tokens) {
        Tensor positions(random.pick<gyre_dtype>({GYRE_I32, GYRE_I64}), {tokens});
        positions.fill_uniform_integers(seed, 0, 100000);
        return c.hold(std::move(positions));
    }

    uint64_t seed;
    Random random;
    bool packed;
    AttentionCase c;
    int64_t batch, heads, seqlen_q, seqlen_kv;
};

} // namespace

TEST_CASE("random combinations of all attention options match the oracle") {
    for (uint64_t seed = 1; seed <= 300; seed++) {
        CAPTURE(seed);
        RandomCase(seed).check();
    }
}
