/// Comparison that notices NaN, for doctest: std::max and a plain `<=` would swallow it.
#pragma once

#include "difference.h"
#include "doctest.h"

#include <cstddef>
#include <vector>

namespace gyre::test {

struct Worst {
    double error = 0;
    size_t index = 0;
};
Worst worst_difference(const std::vector<double> &got, const std::vector<double> &expected);

/// One doctest assertion: as many numbers, none further apart than the tolerance.
void check_close(const char *what, const std::vector<double> &got, const std::vector<double> &expected,
                 double tolerance);

/// Elements that are further from what is expected than what is allowed there, NaN among them.
struct Outside {
    size_t count = 0, worst = 0; // where the excess is largest
};
Outside outside_of(const std::vector<double> &got, const std::vector<double> &expected,
                   const std::vector<double> &allowed);

/// One doctest assertion: as many numbers, none further from what is expected than what is allowed there.
void check_within(const char *what, const std::vector<double> &got, const std::vector<double> &expected,
                  const std::vector<double> &allowed);

/// The root of the mean square of the errors, relative to that of what is expected.
double relative_rms(const std::vector<double> &got, const std::vector<double> &expected);

} // namespace gyre::test
