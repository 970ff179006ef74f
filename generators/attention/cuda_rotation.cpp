#include "cuda_rotation.h"

#include "../cuda/primitives.h"
#include "../cuda/turns.h"

namespace gyre::attention {
using namespace Halide;

Expr rotated_feature(const CudaRotation &r, const CudaPositions &positions, const Expr &token, const Expr &z,
                     const Expr &d, int features, int direction, const std::function<Expr(Expr)> &element) {
    const Expr is_first = select(r.interleaved, d % 2 == 0, d < r.pairs);
    const Expr distance = select(r.interleaved, 1, r.pairs);
    const Expr partner = clamp(select(is_first, d + distance, d - distance), 0, features - 1);
    const Expr pair = clamp(select(r.interleaved, d / 2, select(is_first, d, d - r.pairs)), 0, max(r.pairs, 1) - 1);
    const Expr axis = clamp(r.axis_of_pair(pair), 0, positions.axes - 1);
    const Expr position = cuda::choose(positions.has_given, positions.given(token, z, axis), positions.first + token);
    const Expr row = clamp(position, 0, r.rows - 1);
    const Tuple angle = cuda::sincos_of_turns(position, r.frequencies(pair));
    const Expr cos = cuda::choose(r.has_tables, r.cos(pair, row), angle[0] * r.scale);
    const Expr sin = cuda::choose(r.has_tables, r.sin(pair, row), angle[1] * r.scale);
    const Expr other = element(partner) * sin * static_cast<float>(direction);
    const Expr rotated = element(d) * cos + select(is_first, -other, other);
    return cuda::choose(d < 2 * r.pairs, rotated, element(d));
}

} // namespace gyre::attention
