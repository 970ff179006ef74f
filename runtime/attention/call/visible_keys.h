/// What the rows of a kernel's call see of its keys by their position.
#pragma once
#include <algorithm>
#include <cstdint>

namespace gyre {

/// As kernels count rows and keys, in 32 bits.
struct VisibleKeys {
    int32_t first, last; // row i sees keys first + i to last + i
    int32_t origin;      // the position of key 0 without that of row 0

    /// `distance`: the same, however far. `left`, `right`: keys that a row sees before and beyond its own position; -1: unbounded.
    VisibleKeys(int64_t distance, int64_t left, int64_t right)
        : first(left < 0 ? -unbounded : clamp(-distance - left)),
          last(right < 0 ? unbounded : clamp(-distance + right)), origin(clamp(distance)) {}

private:
    static constexpr int32_t unbounded = 1 << 29; // beyond every row and key, and sums with rows stay in 32 bits

    static int32_t clamp(int64_t i) { return static_cast<int32_t>(std::clamp<int64_t>(i, -unbounded, unbounded)); }
};

} // namespace gyre
