#include "outer_algorithm.h"

namespace gyre::outer {
using namespace Halide;

Stages algorithm(const Inputs &in, const Sizes &sizes, const Func &state) {
    Stages s;
    s.sizes = sizes;
    s.state = state;
    RDom tokens(0, in.tokens, "tokens");
    s.token = tokens;
    s.sum = Func("sum");
    s.sum(s.e, s.d) += in.k(s.d, tokens) * in.v(s.e, tokens);
    s.state(s.e, s.d) = undef<float>();
    s.state(s.e, s.d) += s.sum(s.e, s.d);
    return s;
}

} // namespace gyre::outer
