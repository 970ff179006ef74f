/// Cosine and sine of rotation angles: WHAT is computed. No scheduling call may appear here.
///
///     cos(i, t) = s cos(position(t) f_i)        sin(i, t) = s sin(position(t) f_i)
///
/// The angle is formed and reduced in double: at position 2^20 an f32 product is off by 0.06 radians.
/// With several position axes (M-RoPE, Wang et al., Qwen2-VL, arXiv:2409.12191) pair i reads the axis axis_of_pair(i).
/// Index order is Halide's, innermost first: the C array table[tokens][2][pairs] is table(i, c, t), cosines at c = 0.
#pragma once
#include <Halide.h>

namespace gyre::angles {

struct Inputs {
    Halide::Func positions;    // (t, axis)  int32
    Halide::Func frequencies;  // (i)        f64, radians a token
    Halide::Func axis_of_pair; // (i)        int32
    Halide::Expr axes;         // number of position axes
    Halide::Expr scale;        // s, f32
};

/// Every Func and Var that a schedule may name.
struct Stages {
    Halide::Var i{"i"}, c{"c"}, t{"t"};
    Halide::Func both;  // (i, t)     {cos, sin}
    Halide::Func table; // (i, c, t)  the generator's own output
};

Stages algorithm(const Inputs &in, const Halide::Func &table);

} // namespace gyre::angles
