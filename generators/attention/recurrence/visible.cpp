#include "visible.h"

#include "rows.h"

namespace gyre::attention {
using namespace Halide;

Visible visible_keys(const Inputs &in, const Stages &s) {
    const Sizes &z = s.sizes;
    const Expr first_row = s.first_row();
    const Expr row = first_row + s.r;
    const auto token_of = [&](const Expr &task_row) -> Expr {
        return in.row_step.defined() ? task_row * in.row_step : task_row / in.heads;
    };
    Expr token = s.row_tokens.defined() ? Expr(s.row_tokens(s.r, s.t)) : row_of_task(in, row).token;
    if (!s.row_tokens.defined() && in.row_step.defined()) token = token * in.row_step;
    const Expr tile_first = token_of(first_row), tile_last = token_of(first_row + s.rows_of_tile() - 1);
    Visible v;
    v.keys = in.keys;
    v.first = token + in.first_visible;
    v.last = min(token + in.last_visible, in.keys - 1);
    v.every_first = tile_last + in.first_visible;
    v.every_last = min(tile_first + in.last_visible, in.keys - 1);
    v.tile_first = max(tile_first + in.first_visible, 0);
    v.tile_last = in.is_one_tile(z.task_tiles) ? in.keys - 1 : min(tile_last + in.last_visible, in.keys - 1);
    return v;
}

} // namespace gyre::attention
