#include "rotation.h"

#include "passes/cuda/primitives.h"

namespace gyre::attention {
using namespace Halide;

Expr rotated_feature(const CudaPairs &r, const Expr &d, int features, int direction,
                     const std::function<Tuple(Expr)> &angle, const std::function<Expr(Expr)> &element) {
    const Expr is_first = select(r.interleaved, d % 2 == 0, d < r.count);
    const Expr distance = select(r.interleaved, 1, r.count);
    const Expr partner = clamp(select(is_first, d + distance, d - distance), 0, features - 1);
    const Expr pair = clamp(select(r.interleaved, d / 2, select(is_first, d, d - r.count)), 0, max(r.count, 1) - 1);
    const Tuple cos_sin = angle(pair);
    const Expr other = element(partner) * cos_sin[1] * static_cast<float>(direction);
    const Expr rotated = element(d) * cos_sin[0] + select(is_first, -other, other);
    return cuda::choose(d < 2 * r.count, rotated, element(d));
}

Expr feature_of_pair(const CudaPairs &r, const Expr &pair, const Expr &second, int features) {
    return unsafe_promise_clamped(select(r.interleaved, 2 * pair + second, pair + second * r.count), 0, features - 1);
}

Expr rotated_in_pair(const CudaPairs &r, const Expr &pair, const Expr &second, int features, const Tuple &cos_sin,
                     const std::function<Expr(Expr)> &element) {
    const Expr x = element(feature_of_pair(r, pair, 0, features)), y = element(feature_of_pair(r, pair, 1, features));
    return select(second == 0, x * cos_sin[0] - y * cos_sin[1], y * cos_sin[0] + x * cos_sin[1]);
}

} // namespace gyre::attention
