#include "rotation.h"

namespace gyre {
using namespace Halide;

RotatedRows rotate(Func rows, const std::vector<Expr> &at, const Expr &row, int features, const Rotation &rotation,
                   const std::function<Expr(Expr)> &source, const std::function<Expr(Expr)> &stored) {
    const auto place = [&](const Expr &feature) {
        std::vector<Expr> index{unsafe_promise_clamped(feature, 0, features - 1)};
        index.insert(index.end(), at.begin(), at.end());
        return rows(index);
    };
    const float d = static_cast<float>(rotation.direction);

    const Expr pairs = rotation.half_pairs;
    RDom h(0, pairs, "half");
    const Expr h_cos = rotation.cos(h, row), h_sin = rotation.sin(h, row);
    place(h) = stored(source(h) * h_cos - d * source(h + pairs) * h_sin);
    place(h + pairs) = stored(source(h + pairs) * h_cos + d * source(h) * h_sin);

    RDom n(0, 2, 0, rotation.interleaved_pairs, "interleaved");
    const Expr first = source(2 * n.y), second = source(2 * n.y + 1);
    place(2 * n.y + n.x) = stored(select(n.x == 0, first, second) * rotation.cos(n.y, row) +
                                  select(n.x == 0, -d * second, d * first) * rotation.sin(n.y, row));
    return {h.x, n.y, n.x};
}

namespace {

// Features outside, rows inside: where nothing is rotated there is no loop over the rows.
void schedule_rotations(Func rows, const RotatedRows &vars, int lanes) {
    const auto rows_inside = [&](Stage update, const RVar &features) {
        std::vector<VarOrRVar> order;
        for (size_t dim = 1; dim < rows.args().size(); dim++) order.emplace_back(rows.args()[dim]);
        order.emplace_back(features);
        update.reorder(order);
    };
    for (int half : {0, 1})
        rows_inside(rows.update(half).allow_race_conditions().vectorize(vars.half, lanes, TailStrategy::GuardWithIf),
                    vars.half);
    rows_inside(rows.update(2)
                    .allow_race_conditions()
                    .unroll(vars.parity)
                    .vectorize(vars.interleaved, lanes, TailStrategy::GuardWithIf),
                vars.interleaved);
}

} // namespace

void schedule_rotated_rows(Func rows, const RotatedRows &vars, const Var &feature, int lanes) {
    rows.vectorize(feature, lanes, TailStrategy::GuardWithIf);
    schedule_rotations(rows, vars, lanes);
}

void schedule_rotated_rows(Func rows, const RotatedRows &vars, const Var &feature, int lanes, int copy_lanes) {
    rows.vectorize(feature, copy_lanes).unroll(feature);
    schedule_rotations(rows, vars, lanes);
}

} // namespace gyre
