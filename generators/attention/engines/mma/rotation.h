/// Rotation of one feature at a time: WHAT is computed.
#pragma once
#include <Halide.h>

#include <functional>

namespace gyre::attention {

/// How the first 2 `count` features pair up.
struct CudaPairs {
    Halide::Expr count, interleaved;
};

/// Feature `d` of a row in f32; `angle`: {cos, sin} of a pair; `element`: the row as it was, in f32. `direction`: +1, or -1: back.
Halide::Expr rotated_feature(const CudaPairs &pairs, const Halide::Expr &d, int features, int direction,
                             const std::function<Halide::Tuple(Halide::Expr)> &angle,
                             const std::function<Halide::Expr(Halide::Expr)> &element);

} // namespace gyre::attention
