/// Rows of features as panels, in which neighbouring rows stand side by side: WHAT is computed. No scheduling call may appear
/// here.
///     out(l, d, p) = x(d, l, p)
/// Index order is Halide's, innermost first.   d: feature;  l: row within a panel;  p: panel.
#pragma once
#include "../../math/transpose.h"

#include <Halide.h>

namespace gyre::panels {

struct Stages {
    Halide::Var l{"l"}, d{"d"}, p{"p"};
    Halide::Func x;       // (d, l, p)
    Transpose transposed; // (l, d, p)
    Halide::Func out;     // (l, d, p)  the generator's own output
};

/// `block`: rows and features that are transposed at once, which divides both extents.
Stages algorithm(const Halide::Func &x, int block, const Halide::Func &out);

} // namespace gyre::panels
