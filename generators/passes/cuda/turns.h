/// Cosine and sine of rotation angles in fixed point: WHAT is computed, where double precision is slow or missing.
///
/// An angle is position * frequency. Frequencies come in units of 2^-64 turns a token, as integers modulo 2^64: the product
/// with a position then wraps around as whole turns do, and what is left is the angle, off by position * 2^-65 turns at most.
#pragma once
#include <Halide.h>

namespace gyre::cuda {

/// {cos, sin} of position (int32) times frequency (uint64), |error| below 2e-7. For generators that end in lower_to_cuda().
Halide::Tuple sincos_of_turns(const Halide::Expr &position, const Halide::Expr &frequency);

/// Angles of the pairs of a rotation: of frequencies, or rows of the caller's tables.
struct AngleSource {
    Halide::Func frequencies;  // (pair)  2^-64 turns a token
    Halide::Func axis_of_pair; // (pair)
    Halide::Func cos, sin;     // (pair, position)  f32
    Halide::Expr rows;         // extent of position
    Halide::Expr has_tables;   // else of frequencies
    Halide::Expr scale;        // of cosines and sines of frequencies
};

/// Where tokens stand.
struct PositionSource {
    Halide::Func given; // (token, z, axis)
    Halide::Expr has_given, axes;
};

/// {cos, sin} of a pair of a token; `given`: where that is among given positions; `otherwise`: its position if none are.
Halide::Tuple angle_at(const AngleSource &angles, const PositionSource &positions, const Halide::Expr &pair,
                       const Halide::Expr &given, const Halide::Expr &z, const Halide::Expr &otherwise);

} // namespace gyre::cuda
