#include "attention_key_lanes.h"

#include <functional>

namespace gyre::attention {
using namespace Halide;
namespace {

using Join = std::function<Expr(const Expr &, const Expr &)>;

RDom keys_of_block(const Sizes &z, const std::string &name) {
    if (!z.key_lanes) return {0, z.key_block, name};
    return {0, z.key_lanes, 0, z.key_block / z.key_lanes, name};
}

/// All lanes, halves with halves, as vectors do.
Expr joined_in_pairs(std::vector<Expr> values, const Join &join) {
    while (values.size() > 1) {
        const size_t half = (values.size() + 1) / 2;
        for (size_t i = 0; i + half < values.size(); i++) values[i] = join(values[i], values[i + half]);
        values.resize(half);
    }
    return values[0];
}

/// Joins what the keys of a block have that some row sees: first those of equal lanes, then the lanes.
void join_keys(const Stages &s, const Visible &visible, Func by_lane, Func all, const Func &of_key, const Expr &neutral,
               const Join &join, RVar *step) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &l = s.l;
    RDom steps(0, z.key_block / z.key_lanes, "lane_steps");
    steps.where(b * z.key_block + steps * z.key_lanes <= visible.tile_last);
    by_lane(l, r, t, b) = neutral;
    by_lane(l, r, t, b) = join(by_lane(l, r, t, b), of_key(r, steps * z.key_lanes + l, t, b));
    std::vector<Expr> lanes;
    for (int n = 0; n < z.key_lanes; n++) lanes.push_back(by_lane(n, r, t, b));
    all(r, t, b) = joined_in_pairs(lanes, join);
    *step = steps;
}

} // namespace

KeysOfBlock::KeysOfBlock(const Sizes &sizes, const std::string &name)
    : dom(keys_of_block(sizes, name)), lane(dom.x) {
    const bool in_vectors = sizes.key_lanes > 0;
    first = in_vectors ? Expr(dom.y * sizes.key_lanes) : Expr(dom.x);
    key = in_vectors ? first + dom.x : first;
}

void define_scores_along_lanes(Stages &s) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f;
    RDom features(0, z.head_dim / z.fold, "features");
    s.feature = features;
    const Expr feature = features * z.fold + f;
    s.folded_scores = Func("folded_scores");
    s.folded_scores(f, j, r, t, b) += s.q_rows(feature, r, t) * s.k_rows(feature, j, b);
    s.score_lanes = transpose(s.folded_scores, z.key_lanes, "score_lanes");
    std::vector<Expr> lanes;
    for (int n = 0; n < z.key_lanes; n++) lanes.push_back(s.score_lanes.out(j, n, r, t, b));
    s.scores = Func("scores");
    s.scores(r, j, t, b) = joined_in_pairs(lanes, [](const Expr &x, const Expr &y) { return x + y; });
}

void find_maximum_along_lanes(Stages &s, const Visible &visible) {
    s.lane_max = Func("lane_max");
    s.block_max = Func("block_max");
    join_keys(
        s, visible, s.lane_max, s.block_max, s.masked, least_score,
        [](const Expr &x, const Expr &y) { return max(x, y); }, &s.max_j);
}

void sum_along_lanes(Stages &s, const Visible &visible) {
    s.lane_sum = Func("lane_sum");
    join_keys(
        s, visible, s.lane_sum, s.block_sum, s.weights, 0.0f, [](const Expr &x, const Expr &y) { return x + y; },
        &s.sum_j);
}

} // namespace gyre::attention
