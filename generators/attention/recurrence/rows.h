/// A task's rows of queries.
#pragma once
#include "inputs.h"
#include "stages.h"

namespace gyre::attention {

/// The token and the head of a task's row, which may be one after the last: then the last one's.
struct Row {
    Halide::Expr token, head;
};
Row row_of_task(const Inputs &in, const Halide::Expr &task_row);

/// The token and head of row `r` of row tile `t`. Where a task may have several heads, they were found once for all its blocks.
Row row_of_tile(const Stages &s, const Inputs &in, const Halide::Expr &r, const Halide::Expr &t);

} // namespace gyre::attention
