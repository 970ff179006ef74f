#include "bare.h"

#include "attention/recurrence/blocks.h"
#include "attention/recurrence/scores.h"
#include "math/transcendental.h"

namespace gyre::attention {
using namespace Halide;

int Bare::feature_chunk(int v_head_dim, int lanes, bool converted) {
    int chunk = converted || lanes == 1 ? 8 : 16;
    while (v_head_dim % (chunk * lanes) != 0) chunk /= 2;
    return chunk;
}

Expr Bare::query_factor(const Inputs &in) const { return facts.integer_scores ? Expr() : in.scale; }

void Bare::define_queries(const Inputs &) {
    if (facts.integer_scores) define_integer_queries();
}

void Bare::define_scores(const Inputs &in) {
    if (facts.integer_scores) return define_integer_scores(in.scale);
    define_folded_scores(s, k.fold, 1, [&](const Expr &n) { return s.q_rows(n * k.fold + s.f, s.r, s.t); });
    if (!sums_neighbours()) return;
    RDom lanes(0, k.fold, "score_lanes");
    s.lane = lanes;
    s.scores = Func("scores");
    s.scores(s.r, s.j, s.t, s.b) = 0.0f;
    s.scores(s.r, s.j, s.t, s.b) += s.folded_scores(lanes, s.r, s.j, s.t, s.b);
}

RDom Bare::vectors_of_keys(const Visible &visible, const std::string &name) const {
    const int block = s.sizes.key_block;
    RDom keys(0, k.lanes, 0, block / k.lanes, name);
    keys.where(s.b * block + keys.y * k.lanes <= visible.tile_last);
    return keys;
}

void Bare::define_maximum(const Visible &visible) {
    const Expr first_key = s.b * s.sizes.key_block, last_key = first_key + (s.sizes.key_block - 1);
    // Where loops end with the last key that some row sees, the few rows often see the same keys.
    const Expr first_cut = select(first_key < visible.every_first, 0, visible.every_last + 1 - first_key);
    const Expr last_taken = visible.tile_last | (k.lanes - 1);
    mask_scores(s, visible, steps(), visible.is_cut(first_key, min(last_key, last_taken)), first_cut);
    const RDom keys = vectors_of_keys(visible, "max_keys");
    s.max_j = keys.x;
    s.block_max = Func("block_max");
    s.block_max(s.r, s.t, s.b) = least_score;
    s.block_max(s.r, s.t, s.b) = max(s.block_max(s.r, s.t, s.b), s.masked(s.r, keys.y * k.lanes + keys.x, s.t, s.b));
}

void Bare::define_sum(const Visible &visible) {
    const RDom keys = vectors_of_keys(visible, "sum_keys");
    s.sum_j = keys.x;
    s.block_sum(s.r, s.t, s.b) += sum_weight(keys.y * k.lanes + keys.x);
}

// By bits, because LLVM compares vectors of floats lane by lane here.
Rescaling Bare::rescaling(const Inputs &in, const Expr &maximum, const Expr &block) const {
    if (k.lanes == 1) return FeatureVectors::rescaling(in, maximum, block);
    const Expr block_max = s.block_max(s.r, s.t, block), difference = maximum - block_max;
    const Expr lower = power(-abs(difference)), rises = reinterpret<int32_t>(difference) < 0;
    return {max(maximum, block_max), select(rises, lower, 1.0f), select(rises, 1.0f, lower)};
}

Expr Bare::power(const Expr &difference) const {
    return facts.nan_without_sign ? exp2_nonpositive_by_bits(difference) : exp2_nonpositive(difference);
}

} // namespace gyre::attention
