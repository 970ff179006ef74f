/// Running sums of rows: WHAT is computed. No scheduling call may appear here.
///     out(d, i) = before(d, i) + sum over j <= i of weight(j) x(d, j)
/// The rows are summed first, so that long sequences lose no more than short ones at each of them.
/// Index order is Halide's, innermost first.   d: feature;  i: row.
#pragma once
#include <Halide.h>

namespace gyre::sums {

struct Inputs {
    Halide::Func x;      // (d, i)
    Halide::Func weight; // (i)
    Halide::Func before; // (d, i)
    Halide::Expr rows;
};

struct Stages {
    Halide::Var d{"d"}, i{"i"};
    Halide::RVar row;
    Halide::Func out; // (d, i)  the generator's own output
};

Stages algorithm(const Inputs &in, const Halide::Func &out);

} // namespace gyre::sums
