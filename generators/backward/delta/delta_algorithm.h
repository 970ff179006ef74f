/// What attention's gradients need of each row of its result: WHAT is computed. No scheduling call may appear here.
///     delta_i = <o_i, do_i>        the sum over j of P_ij <do_i, v_j>, which the softmax's gradient subtracts
///     power_i = log2(e) lse_i      so that P_ij = 2^(log2(e) S_ij - power_i)
/// Rows that see no key (lse -inf) get a power that leaves no probability.
/// Index order is Halide's, innermost first.   d: feature;  i: row;  l: lane, d = c * lanes + l.
#pragma once
#include <Halide.h>

namespace gyre::delta {

struct Inputs {
    Halide::Func out, out_grad; // (d, i)  f32
    Halide::Func lse;           // (i)     natural logarithm
    Halide::Expr features;      // a multiple of `lanes`
};

struct Stages {
    Halide::Var l{"l"}, i{"i"};
    Halide::RVar chunk, lane;
    Halide::Func sums;         // (l, i)  of the features of a lane
    Halide::Func delta, power; // (i)     the generator's own outputs
};

Stages algorithm(const Inputs &in, int lanes, const Halide::Func &delta, const Halide::Func &power);

/// The sums alone, of whole tensors. h: head;  z: batch entry.
struct RowStages {
    Halide::Var i{"i"}, h{"h"}, z{"z"};
    Halide::Func sum;   // (i, h, z)
    Halide::Func delta; // (i, h, z)  the generator's own output
};

/// `out`, `out_grad`: (feature, h, i, z), as stored.
RowStages algorithm_of_rows(const Halide::Func &out, const Halide::Func &out_grad, const Halide::Expr &features,
                            const Halide::Func &delta);

} // namespace gyre::delta
