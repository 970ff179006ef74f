/// The buckets of T5's relative position bias: one each for near distances, then ever wider ones up to a largest
/// distance. Source: Raffel et al., Exploring the Limits of Transfer Learning (arXiv:1910.10683), section 2.1, and the
/// authors' code, mesh_tensorflow/transformer/transformer_layers.py, _relative_position_bucket().
#pragma once
#include <Halide.h>

#include <cmath>

namespace gyre::scores {

/// Bucket of a distance n >= 0 among `count`: n itself below count / 2, then
///     count / 2 + floor(log(n / (count / 2)) / log(max_distance / (count / 2)) * (count - count / 2)), at most count
///     - 1.
/// The distances at which buckets begin are integers: found here in double, so that the kernel only compares.
inline Halide::Expr t5_bucket(const Halide::Expr &n, int count, int max_distance) {
    const int exact = count / 2;
    Halide::Expr bucket = Halide::min(n, exact);
    for (int b = exact + 1; b < count; b++) {
        const double share = double(b - exact) / (count - exact);
        // A begin that is an integer must not become the next one by rounding.
        const int begin = int(std::ceil(exact * std::pow(double(max_distance) / exact, share) - 1e-9));
        bucket += Halide::select(n >= begin, 1, 0);
    }
    return bucket;
}

} // namespace gyre::scores
