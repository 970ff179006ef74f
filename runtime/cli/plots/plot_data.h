/// The numbers behind gyre plot: taken from heads that a rotary kernel rotated.
#pragma once

#include "files/array.h"
#include "options/common_options.h"
#include "options/rotation.h"

#include <string>

namespace gyre::cli {

/// Two heads, one of units and one of ones, rotated to the positions 0, 1, 2 … length - 1.
struct RotatedHeads {
    /// Throws UsageError that names --head-dim, --rope, --theta, --target …
    RotatedHeads(const RotationOptions &rotation, const CommonOptions &common, std::int64_t head_dim,
                 std::int64_t length);

    std::int64_t length;
    std::int64_t head_dim;
    std::int64_t pairs = 0;
    Array units; // [length, head_dim]: of the head whose pairs are (1, 0), hence (cos, sin) of the angles
    Array ones;  // [length, head_dim]: of the head of ones
    std::string kernel;

    /// Features of pair i.
    std::int64_t first(std::int64_t i) const { return is_interleaved ? 2 * i : i; }
    std::int64_t second(std::int64_t i) const { return is_interleaved ? 2 * i + 1 : i + pairs; }

private:
    bool is_interleaved;
};

/// [length, pairs]: angles in [0, 2 pi).
Array angles(const RotatedHeads &heads);

/// [2, length], both over their value at m = 0: the dot product of the head of ones at position 0 with that at position
/// m; and the mean over j of |S_j|, S_j = sum of the first j pairs' exp(i m inv_freq), to which the bound of Su et al.,
/// RoFormer, arXiv:2104.09864, section 3.4.3, is proportional.
Array decay(const RotatedHeads &heads);

} // namespace gyre::cli
