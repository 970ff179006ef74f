/// Scores that stand for something, in units of log2(e), so that probabilities are powers of two.
#pragma once
#include <Halide.h>
#include <limits>

namespace gyre::attention {

/// The score of a masked key, which no other key has; its weight is exactly 0. Finite, because Halide compiles f32
/// arithmetic under the assumption that there are no infinities.
constexpr float masked_score = std::numeric_limits<float>::lowest();
/// The maximum of rows that see no key. Biased scores below it count as it, so that only a bias of -inf masks. It is so
/// far above masked_score that masked keys have no weight in these rows either.
constexpr float least_score = -3e38f;
/// True for masked_score.
inline Halide::Expr is_masked(const Halide::Expr &score) {
    return Halide::reinterpret<uint32_t>(score) == Halide::reinterpret<uint32_t>(Halide::Expr(masked_score));
}
constexpr float log2_e = 1.44269504088896f, ln_2 = 0.69314718055995f;

} // namespace gyre::attention
