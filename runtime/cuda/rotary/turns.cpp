#include "cuda/rotary/turns.h"

#include <cmath>

namespace gyre::cuda {

uint64_t turns_of(double radians) {
    // The remainder is exact; a double's 53 bits of it are what a frequency has anyway. 2 pi is rounded to 64 bits where that
    // costs nothing.
    constexpr long double two_pi = 6.283185307179586476925286766559005768L;
    long double turns = static_cast<long double>(radians) / two_pi;
    turns -= std::floor(turns);
    const long double units = std::round(std::ldexp(turns, 64));
    return units >= std::ldexp(1.0L, 64) ? 0 : static_cast<uint64_t>(units);
}

} // namespace gyre::cuda
