#include "packed_tokens.h"

#include "../passes/cuda/primitives.h"

namespace gyre::rotary {
using namespace Halide;

PackedToken packed_token(const PackedSequences &in, const std::string &name) {
    PackedToken t;
    const Var &b = t.b, &c = t.c;
    RDom before(1, select(in.packed, in.sequences, 1) - 1, name + "_before");
    t.before = before;
    t.sequence = Func(name);
    t.sequence(b, c) = c;
    t.sequence(b, c) += select(in.bounds(before) <= b, 1, 0);
    t.index = unsafe_promise_clamped(clamp(t.sequence(b, c), 0, in.sequences - 1), 0, in.sequences - 1);
    t.first = cuda::choose(in.packed, in.bounds(t.index), 0);
    return t;
}

} // namespace gyre::rotary
