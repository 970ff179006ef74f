/// Features of linear attention: WHAT is computed. No scheduling call may appear here.
///     out(d, i) = phi(x(d, i))        phi(x) = elu(x) + 1: x + 1 above 0, e^x below
/// in f32, whatever x is stored as. Source: Katharopoulos et al., Transformers are RNNs (arXiv:2006.16236), section 3.2.1.
/// Index order is Halide's, innermost first.   d: feature;  i: row.
#pragma once
#include <Halide.h>

namespace gyre::features {

struct Stages {
    Halide::Var d{"d"}, i{"i"};
    Halide::Func out; // (d, i)  the generator's own output
};

/// `x`: (d, i), as stored.
Stages algorithm(const Halide::Func &x, const Halide::Target &target, const Halide::Func &out);

/// Stages of whole tensors, which a call may also ask for as they are. h: head;  z: batch entry.
struct TensorStages {
    Halide::Var d{"d"}, h{"h"}, i{"i"}, z{"z"};
    Halide::Func out; // (d, h, i, z)  the generator's own output
};

/// `x`: (d, h, i, z), as stored. `mapped`: features, else the numbers.
TensorStages algorithm_of_tensors(const Halide::Func &x, const Halide::Expr &mapped, const Halide::Target &target,
                                  const Halide::Func &out);

} // namespace gyre::features
