#include "random_linear.h"

namespace gyre::test {

RandomLinear::RandomLinear(uint64_t seed, int64_t longest) : seed(seed), random(seed) {
    causal = random.chance(0.6);
    const int64_t kv_heads = random.integer(1, 3), keys = random.integer(1, longest);
    const int64_t queries = causal ? keys : random.integer(1, longest);
    const auto head_dim = random.pick<int64_t>({4, 16, 32, 33, 64, 80});
    shape.batches(random.integer(1, 3))
        .lengths(queries, keys)
        .head_counts(kv_heads * random.integer(1, 3), kv_heads)
        .dims(head_dim, random.chance(0.6) ? head_dim : random.integer(1, 100))
        .of(random.chance(0.7) ? GYRE_F32 : GYRE_BF16)
        .in(random.pick<gyre_layout>({GYRE_BSHD, GYRE_BHSD}), Placement::with_gaps(random.integer(0, 4)));
}

bool RandomLinear::set_options(LinearCase &c) {
    c.args.causal = causal;
    if (random.chance(0.4)) {
        std::vector<double> used;
        for (int64_t b = 0; b < shape.batch; b++) used.push_back((double)random.integer(0, shape.seqlen_kv));
        c.args.seqused_k = c.hold(GYRE_I32, used);
    }
    if (random.chance(0.5)) {
        gyre_rope rope = gyre_rope_defaults();
        rope.pairing = random.pick<gyre_pairing>({GYRE_HALF, GYRE_INTERLEAVED});
        rope.rotary_dim = (int32_t)(2 * random.integer(1, shape.head_dim / 2));
        c.args.rope = c.hold(rope);
        Tensor positions(GYRE_I32, {shape.seqlen_q}), of_keys(GYRE_I32, {shape.seqlen_kv});
        positions.fill_uniform_integers(seed, 0, 5000);
        of_keys.fill_uniform_integers(seed + 1, 0, 5000);
        c.args.q_positions = c.hold(positions);
        c.args.k_positions = c.hold(of_keys);
    }
    return random.chance(0.5);
}

} // namespace gyre::test
