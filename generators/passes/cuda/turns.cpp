#include "turns.h"

#include "primitives.h"

namespace gyre::cuda {
using namespace Halide;

Tuple sincos_of_turns(const Expr &position, const Expr &frequency) {
    const Expr turns = cast<uint64_t>(cast<int64_t>(position)) * frequency;
    // The leading 32 bits, as a signed number of half turns in [-1, 1).
    const Expr half_turns = cast<float>(reinterpret<int32_t>(cast<uint32_t>(turns >> 32))) * 0x1p-31f;
    return {cos_pi(half_turns), sin_pi(half_turns)};
}

Tuple angle_at(const AngleSource &a, const PositionSource &p, const Expr &pair, const Expr &given, const Expr &z,
               const Expr &otherwise) {
    const Expr axis = clamp(a.axis_of_pair(pair), 0, p.axes - 1);
    const Expr position = choose(p.has_given, p.given(given, z, axis), otherwise);
    const Expr row = clamp(position, 0, a.rows - 1);
    const Tuple angle = sincos_of_turns(position, a.frequencies(pair));
    return {choose(a.has_tables, a.cos(pair, row), angle[0] * a.scale),
            choose(a.has_tables, a.sin(pair, row), angle[1] * a.scale)};
}

} // namespace gyre::cuda
