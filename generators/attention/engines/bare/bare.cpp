#include "bare.h"

#include "attention/recurrence/blocks.h"
#include "attention/recurrence/scores.h"
#include "math/transcendental.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// All accumulators of a row are neighbours, by the order of its features: what is one of its first tuple's is any of them.
class FeaturesInARow : public FeaturesAlongLanes {
    Expr sum(const Func &state, const Sizes &z, const At &at) const override {
        const int tuples = z.v_head_dim / z.feature_chunk;
        return state(at.r, at.t, unsafe_promise_clamped(at.d, 0, tuples - 1))[0];
    }
    // Rows see what they sum.
    Expr normalised(const Expr &sum, const Expr &inverse) const override { return sum * inverse; }
};

} // namespace

const StateLayout &Bare::layout() const {
    static const FeaturesInARow in_a_row;
    return in_a_row;
}

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
    const Expr every = visible.every_last + 1 - first_key;
    const Expr first_cut = select(first_key < visible.every_first, 0, every / k.lanes * k.lanes);
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
    const Expr weight = sum_weight(keys.y * k.lanes + keys.x);
    if (k.lanes == 1) {
        s.block_sum(s.r, s.t, s.b) += weight;
        return;
    }
    s.lane_sums = Func("lane_sums");
    s.lane_sums(s.f, s.r, s.t, s.b) = 0.0f;
    s.lane_sums(keys.x, s.r, s.t, s.b) += weight;
    std::vector<Expr> sums;
    for (int lane = 0; lane < k.lanes; lane++) sums.push_back(s.lane_sums(lane, s.r, s.t, s.b));
    for (; sums.size() > 1; sums.resize(sums.size() / 2)) // neighbours, which some processors add by one instruction
        for (size_t i = 0; i < sums.size() / 2; i++) sums[i] = sums[2 * i] + sums[2 * i + 1];
    s.block_sum(s.r, s.t, s.b) = sums[0];
}

/// What a key of the block gives to feature s.d of row s.r. A row that does not see it, whose weight of it is 0, takes the value of one
/// that it does see: what the value holds that it does not see, NaN or infinity, never matters. Every row sees a key.
Expr Bare::weighted_value(const Visible &visible, const Expr &key) {
    const Expr first_key = s.b * s.sizes.key_block;
    const bool sees_all = s.sizes.row_tile == 1 || provider->is_finite();
    const Expr seen = sees_all ? key : clamp(first_key + key, visible.first, visible.last) - first_key;
    return value_weight(key) * s.operands.v_rows(s.d, seen, s.b);
}

// The last key that some row sees begins the sums; then come those that every row sees, and then the others.
void Bare::define_product_of_values(const Inputs &in, const Visible &visible) {
    _halide_user_assert(!in.is_general()) << "a bias or a mask hides keys of rows that see others around them\n";
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d;
    const int block = s.sizes.key_block;
    const Expr first_key = b * block, last = clamp(visible.tile_last - first_key, 0, block - 1);
    s.weighted_rows = Func("weighted_rows");
    s.weighted_rows(d, r, t, b) = weighted_value(visible, last);
    RDom keys(0, block - 1, "more");
    keys.where(first_key + keys >= visible.every_first);
    keys.where(first_key + keys <= min(visible.every_last, visible.tile_last - 1));
    s.value_j = keys;
    s.weighted_rows(d, r, t, b) += value_weight(keys) * s.operands.v_rows(d, keys, b);
    // Sums that nothing else changes stay in registers.
    s.weighted_sums = Func("weighted_sums");
    s.weighted_sums(d, r, t, b) = s.weighted_rows(d, r, t, b);
    if (s.sizes.row_tile > 1) add_edges(visible);
    s.weighted_lanes = transpose(s.weighted_sums, s.sizes.lanes, "weighted_lanes", true);
    s.weighted(r, d, t, b) = s.weighted_lanes.out(r, d, t, b);
}

void Bare::add_edges(const Visible &visible) {
    const int rows = s.sizes.row_tile, block = s.sizes.key_block;
    const Expr first_key = s.b * block, last = min(visible.tile_last, first_key + (block - 1));
    const Expr begin = max(visible.tile_first, first_key), begins = max(min(visible.every_first, last) - begin, 0);
    const Expr end = max(max(visible.every_last + 1, visible.every_first), first_key), ends = max(last - end, 0);
    const bool one_end = rows == 2; // which is the last key
    RDom edges(0, (rows - 1) * (one_end ? 1 : 2), "edges");
    edges.where(edges < (one_end ? begins : begins + ends));
    const Expr key = one_end ? begin + edges : select(edges < begins, begin + edges, end + (edges - begins));
    s.edge = edges;
    s.weighted_sums(s.d, s.r, s.t, s.b) += weighted_value(visible, clamp(key - first_key, 0, block - 1));
}

// By bits, because LLVM compares vectors of floats lane by lane here.
Rescaling Bare::rescaling(const Inputs &in, const Expr &maximum, const Expr &block) const {
    if (k.lanes == 1) return FeatureVectors::rescaling(in, maximum, block);
    const Expr block_max = s.block_max(s.r, s.t, block), difference = maximum - block_max;
    const Expr lower = power(-abs(difference), false), rises = reinterpret<int32_t>(difference) < 0;
    return {max(maximum, block_max), select(rises, lower, 1.0f), select(rises, 1.0f, lower)};
}

Expr Bare::power(const Expr &difference, bool /*far*/) const {
    if (facts.nan_without_sign) return exp2_nonpositive_by_bits(difference);
    return facts.maximum_keeps_nan ? exp2_nonpositive_by_maximum(difference) : exp2_nonpositive(difference);
}

} // namespace gyre::attention
