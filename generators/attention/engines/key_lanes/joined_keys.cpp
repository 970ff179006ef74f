// What keys of a block have together: their maximum, their sum, and whether one is hidden.
#include "attention/recurrence/blocks.h"
#include "attention/recurrence/scores.h"
#include "key_lanes.h"
#include "math/halves.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// Joins what the keys of a block have that some row sees, if `where` holds: first those of equal lanes, then the lanes.
void join_keys(const KeyLaneStages &s, const Visible &visible, int n, Func by_lane, Func all, const Func &of_key,
               const Expr &neutral, const Join &join, RVar *step, const Expr &where = Internal::const_true()) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &l = s.l;
    RDom steps(0, z.key_block / n, "lane_steps");
    steps.where(b * z.key_block + steps * n <= visible.tile_last);
    steps.where(where);
    by_lane(l, r, t, b) = neutral;
    by_lane(l, r, t, b) = join(by_lane(l, r, t, b), of_key(r, steps * n + l, t, b));
    std::vector<Expr> lanes;
    for (int lane = 0; lane < n; lane++) lanes.push_back(by_lane(lane, r, t, b));
    all(r, t, b) = joined_in_halves(lanes, join);
    *step = steps;
}

} // namespace

void KeyLanes::define_maximum(const Visible &visible) {
    mask_scores(s, visible, steps(), visible.at_edge(s.b * s.sizes.key_block, s.sizes.key_block));
    s.lane_max = Func("lane_max");
    s.block_max = Func("block_max");
    join_keys(
        s, visible, k.lanes, s.lane_max, s.block_max, s.masked, least_score,
        [](const Expr &x, const Expr &y) { return max(x, y); }, &s.max_j);
}

/// Scores tell which keys are hidden, and are few numbers beside the values. A bias seldom hides anything. Scores before the first key that some row
/// sees are not formed, but there the block is cut anyway.
Expr KeyLanes::hides_keys(const Inputs &in, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    const Expr has_either = in.has_bias || in.has_mask;
    Func is_hidden("is_hidden");
    is_hidden(r, j, t, b) = select(is_masked(s.masked(r, j, t, b)) && b * z.key_block + j < in.keys, 1, 0);
    s.lane_hidden = Func("lane_hidden");
    s.row_hidden = Func("row_hidden");
    join_keys(
        s, visible, k.lanes, s.lane_hidden, s.row_hidden, is_hidden, 0,
        [](const Expr &x, const Expr &y) { return x | y; }, &s.hidden_j, has_either);
    RDom rows(0, z.row_tile, 0, (in.rows + z.row_tile - 1) / z.row_tile, "hidden_rows");
    rows.where(has_either);
    s.hidden_tile = rows.y;
    s.hidden = Func("hidden");
    s.hidden(b) = 0;
    s.hidden(b) = s.hidden(b) | s.row_hidden(rows.x, rows.y, b);
    return has_either && s.hidden(b) != 0;
}

void KeyLanes::define_sum(const Visible &visible) {
    s.lane_sum = Func("lane_sum");
    join_keys(
        s, visible, k.lanes, s.lane_sum, s.block_sum, s.weights, 0.0f,
        [](const Expr &x, const Expr &y) { return x + y; }, &s.sum_j);
}

} // namespace gyre::attention
