/// Linear attention's state after more tokens: WHAT is computed. No scheduling call may appear here.
///     state(e, d) += sum over j of k(d, j) v(e, j)
/// The tokens are summed first. Features e run along the lanes, features d are scalars: no reduction crosses lanes.
/// Source: Katharopoulos et al., Transformers are RNNs (arXiv:2006.16236), section 3.3.
/// Index order is Halide's, innermost first.   e, d = t * tile + y: feature;  j: token.
#pragma once
#include <Halide.h>

namespace gyre::outer {

/// Sizes that the code is specialised for.
struct Sizes {
    int tile = 8;      // features d of a register tile; divides their number
    int features = 32; // features e of a register tile; divides theirs
};

struct Inputs {
    Halide::Func k;      // (d, j)
    Halide::Func v;      // (e, j)
    Halide::Expr tokens; // j
};

/// Every Func and Var that a schedule may name.
struct Stages {
    Sizes sizes;
    Halide::Var e{"e"}, d{"d"};
    Halide::RVar token;
    Halide::Func sum;   // (e, d)
    Halide::Func state; // (e, d)  the generator's own output, which is added to
};

Stages algorithm(const Inputs &in, const Sizes &sizes, const Halide::Func &state);

} // namespace gyre::outer
