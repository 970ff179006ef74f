#include "rows.h"

namespace gyre::attention {
using namespace Halide;

Row row_of_task(const Inputs &in, const Expr &task_row) {
    const Expr row = min(task_row, in.rows - 1);
    if (Internal::is_const_one(in.heads)) return {row, 0};
    // Exact below 2^20 rows, and quicker than a division.
    const Expr quotient = cast<int>((cast<float>(row) + 0.5f) * (1.0f / cast<float>(in.heads)));
    const Expr token = unsafe_promise_clamped(quotient, 0, in.tokens - 1);
    return {token, unsafe_promise_clamped(row - token * in.heads, 0, in.heads - 1)};
}

Row row_of_tile(const Stages &s, const Inputs &in, const Expr &r, const Expr &t) {
    if (s.row_tokens.defined()) return {s.row_tokens(r, t), s.row_heads(r, t)};
    return row_of_task(in, s.first_row() + r);
}

} // namespace gyre::attention
