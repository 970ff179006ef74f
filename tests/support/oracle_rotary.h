/// Rotary embedding with angles in long double, written from the definition and from nothing else.
///
///     out[p] = s (x[p] cos a - x[q] sin a)     out[q] = s (x[q] cos a + x[p] sin a)     a = position * frequency
///
/// half pairs (i, i + rotary_dim / 2), interleaved pairs (2i, 2i + 1); rotating back changes the sign of sin.
#pragma once
#include "dense.h"

#include <gyre/gyre.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gyre::test {

/// Positions [axes, batch * seqlen]; `given` may be NULL, then `fallback` (one a token) serves every axis.
std::vector<double> resolve_positions(const gyre_tensor *given, int32_t axes, int64_t batch, int64_t seqlen,
                                      const std::vector<double> &fallback);

/// The rotation of every token of every sequence of a batch.
class OracleRotation {
public:
    /// No rotation.
    OracleRotation() = default;
    /// `with_factor`: multiply by the rope's attention factor, as for queries and keys, not for values.
    OracleRotation(const gyre_rope &rope, int64_t head_dim, int64_t batch, int64_t seqlen,
                   const std::vector<double> &positions, bool with_factor);

    /// Rotates one head vector by its token's angles, or back.
    void apply(double *x, int64_t b, int64_t token, bool back = false) const;

    int64_t pairs() const { return pairs_; }
    /// The two features of a pair.
    int64_t left(int64_t pair) const { return first_ + (pairing_ == GYRE_HALF ? pair : 2 * pair); }
    int64_t right(int64_t pair) const { return first_ + (pairing_ == GYRE_HALF ? pair + pairs_ : 2 * pair + 1); }
    double cosine(int64_t b, int64_t token, int64_t pair) const { return cos_[index(b, token, pair)]; }
    double sine(int64_t b, int64_t token, int64_t pair) const { return sin_[index(b, token, pair)]; }
    /// What the sum of a pair's magnitudes is multiplied by, at most: 1, but where a table holds larger numbers.
    double growth(int64_t b, int64_t token, int64_t pair) const {
        return std::max({1.0, std::fabs(cosine(b, token, pair)), std::fabs(sine(b, token, pair))});
    }

private:
    size_t index(int64_t b, int64_t token, int64_t pair) const {
        return (size_t)((b * seqlen_ + token) * pairs_ + pair);
    }

    gyre_pairing pairing_ = GYRE_HALF;
    int64_t first_ = 0, pairs_ = 0, seqlen_ = 0;
    std::vector<double> cos_, sin_; // [batch, seqlen, pairs]
};

/// The frequency of a pair, in radians a token.
long double oracle_frequency(const gyre_rope &rope, int64_t head_dim, int64_t pair);

struct OracleRotary {
    Dense out;       // before it is rounded to the type of `out`
    Dense magnitude; // |x[p]| + |x[q]|, which the errors of cos and sin are multiplied by; 0 where x passes through
};

/// What gyre_rotary() should write.
OracleRotary oracle_rotary(const gyre_rotary_args &args);

/// |error| allowed of each element of `out`: the promised accuracy of cos and sin and the rounding of the type; 0 where
/// nothing is rotated.
std::vector<double> rotary_tolerances(const gyre_rotary_args &args, const OracleRotary &expected);

} // namespace gyre::test
