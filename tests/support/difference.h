/// The distance of two numbers, for comparisons that notice NaN.
#pragma once

#include <cmath>
#include <limits>

namespace gyre::test {

/// |got - expected|; infinite if exactly one is NaN or infinite, or both are but differ.
inline double difference(double got, double expected) {
    if (std::isnan(got) && std::isnan(expected)) return 0;
    if (got == expected) return 0;
    const double error = std::fabs(got - expected);
    return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

} // namespace gyre::test
