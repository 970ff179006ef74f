/// Rows of queries, keys and values as kernels take them from tensors: rotated, or as they are; widened, or as bits.
#pragma once
#include "../math/rotation.h"

namespace gyre {

/// Rows of a tensor as it is.
struct StoredRows {
    std::function<Halide::Expr(const Halide::Expr &feature)> element; // as it is stored
    Halide::Expr extent;                                              // features of the tensor
    Halide::Expr angle_row;
    const Rotation &rotation;
};

/// What becomes of them.
struct RowForm {
    int features;           // at most
    bool padded;            // features past the tensor's own extent are 0
    bool as_bits = false;   // of a bf16 tensor, rounded to bf16 again, as UInt(16); else f32
    bool as_stored = false; // they are not rotated
    bool unwidened = false; // of the stored type; as_stored only
    Halide::Expr factor{};  // of all that is stored, in f32; undefined: 1
    Halide::Expr count{};   // of features that are formed; undefined: all
};

/// Defines `rows` (feature, …), of which `args` are the arguments.
RotatedRows define_rows(Halide::Func rows, const StoredRows &in, const std::vector<Halide::Var> &args,
                        const RowForm &form);

} // namespace gyre
