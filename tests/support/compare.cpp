#include "compare.h"

#include <cmath>

namespace gyre::test {

Worst worst_difference(const std::vector<double> &got, const std::vector<double> &expected) {
    Worst worst;
    for (size_t i = 0; i < expected.size(); i++) {
        const double error = difference(got[i], expected[i]);
        if (error > worst.error) worst = {error, i};
    }
    return worst;
}

void check_close(const char *what, const std::vector<double> &got, const std::vector<double> &expected,
                 double tolerance) {
    REQUIRE_MESSAGE(got.size() == expected.size(), text(what));
    const Worst worst = worst_difference(got, expected);
    const double got_there = got.empty() ? 0 : got[worst.index];
    const double expected_there = expected.empty() ? 0 : expected[worst.index];
    CHECK_MESSAGE(worst.error <= tolerance, text(what), ": element ", worst.index, " is ", got_there, ", expected ",
                  expected_there, ", error ", worst.error, " > ", tolerance);
}

Outside outside_of(const std::vector<double> &got, const std::vector<double> &expected,
                   const std::vector<double> &allowed) {
    Outside outside;
    double largest = 0;
    for (size_t i = 0; i < got.size(); i++) {
        const double error = difference(got[i], expected[i]);
        if (error == 0 || error <= allowed[i]) continue; // neither holds for NaN
        const double excess = error - allowed[i];
        if (outside.count++ == 0 || excess > largest) {
            largest = excess;
            outside.worst = i;
        }
    }
    return outside;
}

void check_within(const char *what, const std::vector<double> &got, const std::vector<double> &expected,
                  const std::vector<double> &allowed) {
    REQUIRE_MESSAGE((got.size() == expected.size() && got.size() == allowed.size()), text(what));
    const Outside outside = outside_of(got, expected, allowed);
    const size_t at = outside.worst;
    CHECK_MESSAGE(outside.count == 0, text(what), ": ", outside.count, " of ", got.size(), " elements; element ", at,
                  " is ", got.empty() ? 0 : got[at], ", expected ", got.empty() ? 0 : expected[at], " within ",
                  got.empty() ? 0 : allowed[at]);
}

double relative_rms(const std::vector<double> &got, const std::vector<double> &expected) {
    double error = 0, size = 0;
    for (size_t n = 0; n < expected.size(); n++) {
        error += (got[n] - expected[n]) * (got[n] - expected[n]);
        size += expected[n] * expected[n];
    }
    return std::sqrt(error / size);
}

} // namespace gyre::test
