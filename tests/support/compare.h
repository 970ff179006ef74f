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

inline Worst worst_difference(const std::vector<double> &got, const std::vector<double> &expected) {
    Worst worst;
    for (size_t i = 0; i < expected.size(); i++) {
        const double error = difference(got[i], expected[i]);
        if (error > worst.error) worst = {error, i};
    }
    return worst;
}

/// One doctest assertion: as many numbers, none further apart than the tolerance.
inline void check_close(const char *what, const std::vector<double> &got, const std::vector<double> &expected,
                        double tolerance) {
    REQUIRE_MESSAGE(got.size() == expected.size(), text(what));
    const Worst worst = worst_difference(got, expected);
    const double got_there = got.empty() ? 0 : got[worst.index];
    const double expected_there = expected.empty() ? 0 : expected[worst.index];
    CHECK_MESSAGE(worst.error <= tolerance, text(what), ": element ", worst.index, " is ", got_there, ", expected ",
                  expected_there, ", error ", worst.error, " > ", tolerance);
}

} // namespace gyre::test
