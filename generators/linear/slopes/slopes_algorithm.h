/// Gradients of what linear attention's features are formed from: WHAT is computed. No scheduling call may appear here.
///     out(d, i) = phi'(x(d, i)) (product(d, i) - weight(i) sums(d, i))        phi'(x) = 1 above 0, e^x below
/// product: the gradient by way of the numerator, rotated back; sums: by way of the denominator, but for its factor.
/// Index order is Halide's, innermost first.   d: feature;  i: row.
#pragma once
#include <Halide.h>

namespace gyre::slopes {

struct Inputs {
    Halide::Func x;             // (d, i)  as stored
    Halide::Func product, sums; // (d, i)  f32
    Halide::Func weight;        // (i)     f32
};

struct Stages {
    Halide::Var d{"d"}, i{"i"};
    Halide::Func out; // (d, i)  the generator's own output
};

/// `type`: of out.
Stages algorithm(const Inputs &in, const Halide::Target &target, const Halide::Func &out, const Halide::Type &type);

} // namespace gyre::slopes
