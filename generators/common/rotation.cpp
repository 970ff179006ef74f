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

void schedule_rotated_rows(Func rows, const RotatedRows &vars, const Var &feature, int lanes) {
    rows.vectorize(feature, lanes, TailStrategy::GuardWithIf);
    for (int update : {0, 1})
        rows.update(update).allow_race_conditions().vectorize(vars.half, lanes, TailStrategy::GuardWithIf);
    rows.update(2)
        .allow_race_conditions()
        .unroll(vars.parity)
        .vectorize(vars.interleaved, lanes, TailStrategy::GuardWithIf);
}

} // namespace gyre
