/// Rows of queries, keys and values: where they are, and how they are taken from there.
#pragma once
#include "attention_algorithm.h"

namespace gyre::attention {

/// The token and the head of a task's row, which may be one after the last: then the last one's.
struct Row {
    Halide::Expr token, head;
};
Row row_of_task(const Inputs &in, const Halide::Expr &task_row);

/// Where the rows of a task's key begin.
Halide::Expr offset_of_key(const Pages &pages, const KeyRows &rows, const Halide::Expr &key);

/// Rows of a tensor as it is.
struct StoredRows {
    std::function<Halide::Expr(const Halide::Expr &feature)> element; // as it is stored
    Halide::Expr extent;                                              // features of the tensor
    Halide::Expr angle_row;
    const Rotation &rotation;
};

/// What becomes of them.
struct RowForm {
    int features;
    bool padded;            // features past the tensor's own extent are 0
    bool as_bits = false;   // of a bf16 tensor, rounded to bf16 again, as UInt(16); else f32
    bool as_stored = false; // they are not rotated
    bool unwidened = false; // of the stored type; as_stored only
};

Halide::Func stage_rows(const std::string &name, const StoredRows &in, const std::vector<Halide::Var> &args,
                        const RowForm &form, RotatedRows &rotated);

} // namespace gyre::attention
