#include "linear_allowance.h"
#include "element.h"

namespace gyre::test {
namespace {

constexpr double least = 1e-30;

} // namespace

double linear_error(const gyre_linear_attention_args &args) { return args.rope ? 2.5e-6 : 1e-6; }

std::vector<double> linear_allowance(const OracleNumbers &expected, gyre_dtype dtype, double relative) {
    std::vector<double> allowed(expected.exact.size());
    for (size_t n = 0; n < allowed.size(); n++) {
        const double rounding = dtype == GYRE_F32 ? 0 : rounding_of(dtype, expected.exact[n]);
        allowed[n] = relative * expected.magnitude[n] + rounding + least;
    }
    return allowed;
}

} // namespace gyre::test
