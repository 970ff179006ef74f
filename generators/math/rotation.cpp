#include "rotation.h"

namespace gyre {
using namespace Halide;

namespace {

using Place = std::function<FuncRef(const Expr &)>;

RotatedRows rotate_in_vectors(const Place &place, const Expr &row, int features, const Rotation &rotation,
                              const RowElements &elements) {
    RotatedRows vars;
    const int lanes = rotation.lanes;
    const Expr half = rotation.half_pairs, interleaved = rotation.interleaved_pairs, is_half = half > 0;
    // A vector of which a part is rotated is copied before that.
    const Expr whole = 2 * (half + interleaved) / lanes;
    RDom rest(0, lanes, whole, features / lanes - whole, "rest");
    place(rest.y * lanes + rest.x) = elements.copied(rest.y * lanes + rest.x);
    vars.rest = rest.x;
    const float d = static_cast<float>(rotation.direction);
    // Pairs (i * stride, i * stride + distance)
    const auto rotated = [&](const Expr &i, const Expr &parity, const Expr &stride, const Expr &distance) {
        const Expr p = i * stride, cos = rotation.cos(i, row), sin = d * rotation.sin(i, row);
        const Expr x = elements.source(p), y = elements.source(p + distance);
        place(p + parity * distance) = elements.stored(mux(parity, {x * cos - y * sin, y * cos + x * sin}));
    };
    const auto update = [&](const Expr &first, const Expr &pairs, const Expr &stride, const Expr &distance) {
        RDom n(0, 2, first, pairs, "rotated");
        rotated(n.y, n.x, stride, distance);
        vars.updates.push_back({n.x, n.y, false});
    };
    const int turn = lanes * rotation.turns;
    const Expr pairs = half + interleaved; // one of the two is 0
    Expr left = pairs;
    if (turn > 1) {
        RDom n(0, turn, 0, 2, 0, half / turn, "turned");
        rotated(n.z * turn + n.x, n.y, 1, half);
        vars.updates.push_back({n.y, n.x, true});
        left = pairs - half / turn * turn;
    }
    if (lanes > 1) {
        const Expr vectors = interleaved / lanes * lanes;
        update(0, vectors, 2, 1);
        left = rotation.turns > 1 ? left - vectors : pairs % lanes;
    }
    update(pairs - left, left, select(is_half, 1, 2), select(is_half, half, 1));
    return vars;
}

} // namespace

RotatedRows rotate(Func rows, const std::vector<Var> &args, const Expr &row, const Expr &features, int most,
                   const Rotation &rotation, const RowElements &elements) {
    const auto place = [&](const Expr &feature) -> FuncRef {
        std::vector<Expr> index{unsafe_promise_clamped(feature, 0, most - 1)};
        index.insert(index.end(), args.begin() + 1, args.end());
        return rows(index);
    };
    const auto &[copied, source, stored] = elements;
    rows(args) = undef(copied(args[0]).type());
    if (rotation.lanes > 0) return rotate_in_vectors(place, row, most, rotation, elements);

    // The last dimension of each is a loop over all rows that does not run where there is nothing to do.
    const Expr distance = rotation.half_pairs, interleaved = rotation.interleaved_pairs;
    RDom c(0, features, 0, select(2 * (distance + interleaved) == features, 0, 1), "copied");
    place(c.x) = copied(c.x);
    const auto pairs = [](const Expr &count, const std::string &name) {
        return RDom(0, 2, 0, count, 0, min(count, 1), name);
    };
    const float d = static_cast<float>(rotation.direction);
    RDom h = pairs(distance, "half");
    const Expr x = source(h.y), y = source(h.y + distance), cos = rotation.cos(h.y, row), sin = rotation.sin(h.y, row);
    place(h.y + h.x * distance) = stored(mux(h.x, {x * cos - d * y * sin, y * cos + d * x * sin}));

    RDom n = pairs(interleaved, "interleaved");
    const Expr first = source(2 * n.y), second = source(2 * n.y + 1);
    place(2 * n.y + n.x) = stored(select(n.x == 0, first, second) * rotation.cos(n.y, row) +
                                  select(n.x == 0, -d * second, d * first) * rotation.sin(n.y, row));
    return {c.x, c.y, {h.x, h.y, h.z}, {n.x, n.y, n.z}, {}, {}};
}

namespace {

/// Row by row, as features and angles lie in memory.
Stage row_by_row(const Func &rows, Stage update, const RVar &inner, const RVar &outermost) {
    std::vector<VarOrRVar> order{inner};
    for (size_t dim = 1; dim < rows.args().size(); dim++) order.emplace_back(rows.args()[dim]);
    order.emplace_back(outermost);
    return update.allow_race_conditions().reorder(order);
}

void schedule_rotations(Func rows, const RotatedRows &vars, int lanes) {
    const RotatedRows::Pairs *both[] = {&vars.half, &vars.interleaved};
    for (int i : {0, 1}) {
        const auto &[parity, pair, any] = *both[i];
        row_by_row(rows, rows.update(1 + i).unroll(parity), pair, any)
            .vectorize(pair, lanes, TailStrategy::GuardWithIf);
    }
}

} // namespace

void schedule_whole_vectors(Func rows, const RotatedRows &vars, int lanes) {
    rows.update(0).allow_race_conditions().vectorize(vars.rest);
    const int last = static_cast<int>(vars.updates.size()) - 1;
    for (int i = 0; i <= last; i++) {
        Stage update = rows.update(1 + i).unroll(vars.updates[i].parity);
        if (i == last) continue;
        const RVar &pair = vars.updates[i].pair;
        update.allow_race_conditions();
        if (!vars.updates[i].is_turn) {
            RVar chunk("chunk"), lane("lane");
            update.split(pair, chunk, lane, lanes, TailStrategy::GuardWithIf).vectorize(lane);
        } else if (lanes > 1) {
            update.vectorize(pair, lanes).unroll(pair);
        } else {
            update.unroll(pair);
        }
    }
}

void schedule_rotated_rows(Func rows, const RotatedRows &vars, int lanes, TailStrategy tail) {
    row_by_row(rows, rows.update(0), vars.copied, vars.any_copied).vectorize(vars.copied, lanes, tail);
    schedule_rotations(rows, vars, lanes);
}

void schedule_rotated_rows(Func rows, const RotatedRows &vars, int lanes, int copy_lanes) {
    row_by_row(rows, rows.update(0), vars.copied, vars.any_copied)
        .vectorize(vars.copied, copy_lanes)
        .unroll(vars.copied);
    schedule_rotations(rows, vars, lanes);
}

} // namespace gyre
