/// A task's rows of queries.
#pragma once
#include "inputs.h"

namespace gyre::attention {

/// The token and the head of a task's row, which may be one after the last: then the last one's.
struct Row {
    Halide::Expr token, head;
};
Row row_of_task(const Inputs &in, const Halide::Expr &task_row);

} // namespace gyre::attention
