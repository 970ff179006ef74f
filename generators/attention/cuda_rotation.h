/// Rotation of one feature at a time, whose angle is formed where it is used: WHAT is computed.
#pragma once
#include <Halide.h>

#include <functional>

namespace gyre::attention {

/// Angles of pairs, as rotary/rotary_cuda_generator.cpp takes them, and how the first 2 `pairs` features pair up.
struct CudaRotation {
    Halide::Func frequencies;  // (pair)  2^-64 turns a token
    Halide::Func axis_of_pair; // (pair)
    Halide::Func cos, sin;     // (pair, position)  f32
    Halide::Expr rows;         // extent of position
    Halide::Expr has_tables;   // else of frequencies
    Halide::Expr scale;        // of cosines and sines
    Halide::Expr pairs, interleaved;
};

struct CudaPositions {
    Halide::Func given; // (token, z, axis)
    Halide::Expr has_given, axes;
    Halide::Expr first; // else first + token
};

/// Feature `d` of a row at a token's position, in f32; `element`: the row as it was, in f32. `direction`: +1, or -1: back.
Halide::Expr rotated_feature(const CudaRotation &rotation, const CudaPositions &positions, const Halide::Expr &token,
                             const Halide::Expr &z, const Halide::Expr &d, int features, int direction,
                             const std::function<Halide::Expr(Halide::Expr)> &element);

} // namespace gyre::attention
