/// Rotation of features, one at a time or in pairs: WHAT is computed.
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

/// Where the first feature of a pair is (`second` 0), or its second one (1).
Halide::Expr feature_of_pair(const CudaPairs &pairs, const Halide::Expr &pair, const Halide::Expr &second,
                             int features);

/// Rotates the first feature of a pair, or its second one, by an angle that was formed for both.
Halide::Expr rotated_in_pair(const CudaPairs &pairs, const Halide::Expr &pair, const Halide::Expr &second, int features,
                             const Halide::Tuple &cos_sin, const std::function<Halide::Expr(Halide::Expr)> &element);

} // namespace gyre::attention
