#include "rotation.h"

namespace gyre {
using namespace Halide;

namespace {

using Place = std::function<FuncRef(const Expr &)>;
using Conversion = std::function<Expr(Expr)>;

RotatedRows rotate_in_vectors(const Place &place, const Expr &row, int features, const Rotation &rotation,
                              const Conversion &source, const Conversion &stored) {
    RotatedRows vars;
    const int lanes = rotation.lanes;
    const Expr half = rotation.half_pairs, interleaved = rotation.interleaved_pairs, is_half = half > 0;
    // A vector of which a part is rotated is copied before that.
    const Expr whole = 2 * (half + interleaved) / lanes;
    RDom rest(0, lanes, whole, features / lanes - whole, "rest");
    place(rest.y * lanes + rest.x) = stored(source(rest.y * lanes + rest.x));
    vars.rest = rest.x;
    const float d = static_cast<float>(rotation.direction);
    // Pairs (i * stride, i * stride + distance)
    const auto update = [&](const Expr &first, const Expr &pairs, const Expr &stride, const Expr &distance) {
        RDom n(0, 2, first, pairs, "rotated");
        const Expr p = n.y * stride, cos = rotation.cos(n.y, row), sin = d * rotation.sin(n.y, row);
        const Expr x = source(p), y = source(p + distance);
        place(p + n.x * distance) = stored(mux(n.x, {x * cos - y * sin, y * cos + x * sin}));
        vars.updates.push_back({n.x, n.y});
    };
    if (lanes > 1) {
        update(0, half / lanes * lanes, 1, half);
        update(0, interleaved / lanes * lanes, 2, 1);
    }
    const Expr pairs = half + interleaved, left = lanes > 1 ? pairs % lanes : pairs; // one of the two is 0
    update(pairs - left, left, select(is_half, 1, 2), select(is_half, half, 1));
    return vars;
}

} // namespace

RotatedRows rotate(Func rows, const std::vector<Expr> &at, const Expr &row, int features, const Rotation &rotation,
                   const std::function<Expr(Expr)> &source, const std::function<Expr(Expr)> &stored) {
    const auto place = [&](const Expr &feature) -> FuncRef {
        std::vector<Expr> index{unsafe_promise_clamped(feature, 0, features - 1)};
        index.insert(index.end(), at.begin(), at.end());
        return rows(index);
    };
    if (rotation.lanes > 0) return rotate_in_vectors(place, row, features, rotation, source, stored);
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

void schedule_whole_vectors(Func rows, const RotatedRows &vars, int lanes) {
    rows.update(0).allow_race_conditions().vectorize(vars.rest);
    const int last = static_cast<int>(vars.updates.size()) - 1;
    for (int i = 0; i <= last; i++) {
        Stage update = rows.update(1 + i).unroll(vars.updates[i].parity);
        if (i == last) continue;
        RVar chunk("chunk"), lane("lane");
        update.allow_race_conditions()
            .split(vars.updates[i].pair, chunk, lane, lanes, TailStrategy::GuardWithIf)
            .vectorize(lane);
    }
}

void schedule_rotated_rows(Func rows, const RotatedRows &vars, const Var &feature, int lanes) {
    rows.vectorize(feature, lanes, TailStrategy::GuardWithIf);
    schedule_rotations(rows, vars, lanes);
}

void schedule_rotated_rows(Func rows, const RotatedRows &vars, const Var &feature, int lanes, int copy_lanes) {
    rows.vectorize(feature, copy_lanes).unroll(feature);
    schedule_rotations(rows, vars, lanes);
}

} // namespace gyre
