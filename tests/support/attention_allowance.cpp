#include "attention_allowance.h"
#include "element.h"

#include <algorithm>
#include <cmath>

namespace gyre::test {
namespace {

/// Relative errors that f32 arithmetic leaves in powers of two and in sums, and a rounding's.
constexpr double f32_error = 2e-6, f32_rounding = 0x1p-24;

/// Weights have no smaller numbers than 2^-100, or 2^-126: a block's, relative to the block's largest, what this is to the row's, and what all
/// are to a sink each become 0 below it.
constexpr double least_weight = 4 * 0x1p-100;

/// Instructions that multiply pairs of bf16 numbers take numbers below 2^-126 for 0: each term of a value, each product of terms
/// (of two factors those whose places add up to less than `terms`) and each sum. So much a key that is seen, and once more where
/// the result is stored. A rotation adds what two features are off by.
double least_product(int terms) {
    const int products = terms * (terms + 1) / 2;
    return (terms + 2 * products) * 0x1p-126;
}

/// So do all instructions on vectors of f32 of 32-bit ARM: a value, its product and the sum that this is added to, and that sum where its
/// block is added to those before.
constexpr double least_on_vectors = 4 * 0x1p-126;

/// A power of two that is rounded next is off by its rounding and by a sixth of that (generators/passes/instructions/exp2_pairs.h).
constexpr double roundings_of_weight = 7.0 / 6;

/// Independent errors are at most their largest value, so that their deviation is below 0.6 of it: eight deviations.
constexpr double largest_of_independent = 5;

/// The relative error of a power whose exponent is off.
double of_power(double exponent_error) { return std::expm1(std::min(exponent_error, 50.0)); }

/// A relative error: at most, and what independent ones come to.
struct Rounding {
    double largest = 0, typical = 0;
};

/// Relative errors of one row.
struct RowError {
    double arithmetic = 0; // of weights, in f32
    double weights = 0;    // of their rounding
    Rounding scores;       // what rounding rotated queries and keys does to weights
    double values = 0;     // of rounding rotated values
    double sum = 0;        // of the sum of weights alone
    double left_out = 0;   // of products of weights and values
    double products = 0;   // absolute: of products that are no normal numbers
};

RowError error_of_row(const ScoreSize &size, double keys, const gyre_attention_args &args, const KernelRounding &kernel,
                      const Arithmetic &arithmetic) {
    const int rotated = !args.rope ? 0 : args.keys_rotated ? 1 : 2; // queries, and keys
    RowError error;
    error.arithmetic = f32_error + of_power(arithmetic.roundings_of_score * f32_rounding * size.sum);
    error.weights = roundings_of_weight * kernel.operands;
    error.scores = {of_power(rotated * kernel.operands * size.sum),
                    of_power(std::sqrt(rotated) * kernel.operands * size.norm)};
    error.values = args.value_rope && !args.values_rotated ? kernel.operands : 0;
    error.sum = roundings_of_weight * kernel.sum;
    error.left_out = kernel.products();
    if (kernel.operands > 0 || kernel.terms > 0)
        error.products = (args.value_rope ? 2 : 1) * least_product(std::max(kernel.terms, 1)) * (keys + 1);
    if (kernel.without_subnormals) error.products += (args.value_rope ? 2 : 1) * least_on_vectors * (keys + 1);
    return error;
}

/// What roundings cost an output: `magnitude` and `square` are the sums of |P v| and of its square.
double rounding_of_output(const RowError &error, double exact, double magnitude, double square) {
    const double independent = largest_of_independent * std::sqrt(square);
    const double at_most = (2 * (error.weights + error.scores.largest) + error.left_out) * magnitude;
    const double typical = (error.weights + error.scores.typical + error.left_out) * (std::fabs(exact) + independent);
    return std::min(at_most, typical) + error.values * std::min(magnitude, independent);
}

double rounding_of_lse(const RowError &error) {
    return error.sum + std::min(error.scores.largest, largest_of_independent * error.scores.typical);
}

/// What storing adds to a number that is off by so much; a number that is not finite may not be off at all.
double stored(gyre_dtype dtype, double exact, double error) {
    return std::isfinite(exact) ? rounded_error(dtype, exact, error) : 0;
}

} // namespace

AttentionAllowance attention_allowance(const OracleAttention &expected, const gyre_attention_args &args,
                                       const KernelRounding &kernel, const Arithmetic &arithmetic) {
    const double tolerance = arithmetic.tolerance;
    const Dense &out = expected.out;
    AttentionAllowance allowed{std::vector<double>(out.data.size()), std::vector<double>(expected.lse.size())};
    for (int64_t b = 0; b < out.batch; b++)
        for (int64_t h = 0; h < out.heads; h++)
            for (int64_t i = 0; i < out.seqlen; i++) {
                const auto row = (size_t)((b * out.heads + h) * out.seqlen + i);
                const RowError error =
                    error_of_row(expected.score_size[row], expected.keys[row], args, kernel, arithmetic);
                const double lse_error = tolerance > 0 ? 2 * tolerance : error.arithmetic;
                allowed.lse[row] = stored(GYRE_F32, expected.lse[row], lse_error + rounding_of_lse(error));
                const auto first = (size_t)(out.head(b, i, h) - out.data.data());
                for (size_t at = first; at < first + (size_t)out.dim; at++) {
                    const double magnitude = expected.magnitude.data[at];
                    const double relative = error.arithmetic * magnitude + least_weight * expected.visible.data[at];
                    const double of_arithmetic = tolerance > 0 ? tolerance : relative;
                    const double of_rounding =
                        rounding_of_output(error, out.data[at], magnitude, expected.square.data[at]);
                    allowed.out[at] =
                        stored(args.out.dtype, out.data[at], of_arithmetic + of_rounding + error.products);
                }
            }
    return allowed;
}

} // namespace gyre::test
