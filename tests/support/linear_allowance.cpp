#include "linear_allowance.h"
#include "element.h"

#include <cmath>

namespace gyre::test {
namespace {

constexpr double least = 1e-30;

/// A sum of n terms of one sign is rounded n times. Roundings of f32 numbers deviate by 0.29 of a spacing of 2^-23 to 2^-24 of the
/// sum so far, whose square is a third of the last one's in the mean.
constexpr double deviation_of_rounding = 0.29 * 0x1.6p-24;

/// One sum of some 10^9 is further off.
constexpr double deviations = 6;

int64_t tokens_of(const gyre_tensor &x, gyre_layout layout) {
    return layout == GYRE_THD ? x.shape[0] : x.shape[layout == GYRE_BHSD ? 2 : 1];
}

} // namespace

double linear_error(const gyre_linear_attention_args &args) {
    const double of_terms = args.rope ? 2.5e-6 : 1e-6;
    const auto terms = (double)(tokens_of(args.k, args.layout) + args.q.shape[args.q.rank - 1]);
    return of_terms + deviations * deviation_of_rounding * std::sqrt(terms / 3);
}

std::vector<double> linear_allowance(const OracleNumbers &expected, gyre_dtype dtype, double relative) {
    std::vector<double> allowed(expected.exact.size());
    for (size_t n = 0; n < allowed.size(); n++) {
        const double error = relative * expected.magnitude[n] + least;
        allowed[n] = dtype == GYRE_F32 ? error : rounded_error(dtype, expected.exact[n], error);
    }
    return allowed;
}

} // namespace gyre::test
