/// Products of rows, and rows divided by them: WHAT is computed. No scheduling call may appear here.
///     product(i) = <a_i, b_i>        out(e, i) = x(e, i) / product(i), 0 where that is 0
/// What linear attention divides by, and gradients of it.
/// Index order is Halide's, innermost first.   d, e: feature;  i: row;  l: lane, d = c * lanes + l.
#pragma once
#include <Halide.h>

namespace gyre::norms {

struct Inputs {
    Halide::Func a, b;     // (d, i)  f32
    Halide::Func x;        // (e, i)  f32
    Halide::Expr features; // of a and b, a multiple of `lanes`
};

struct Stages {
    Halide::Var l{"l"}, e{"e"}, i{"i"};
    Halide::RVar chunk, lane;
    Halide::Func sums;    // (l, i)  of the features of a lane
    Halide::Func inverse; // (i)
    Halide::Func product; // (i)     the generator's own outputs
    Halide::Func out;     // (e, i)
};

/// `type`: of out.
Stages algorithm(const Inputs &in, int lanes, const Halide::Func &product, const Halide::Func &out,
                 const Halide::Type &type);

} // namespace gyre::norms
