#include "backward_allowance.h"
#include "element.h"
#include "kernel_facts.h"

namespace gyre::test {
namespace {

/// Relative errors that f32 arithmetic leaves in P, dP and sums of some hundred terms, and a rounding's. Scores are formed twice,
/// for lse and for P.
constexpr double f32_error = 3e-6, f32_rounding = 0x1p-24, roundings_of_score = 2 * 8;

/// What a stored result is off by, in half spacings of its type: rounding, and what the forward kernel leaves before that.
constexpr double roundings_of_result = 2;

/// A weight that the forward kernel rounds is off by its rounding and by a sixth of that (attention_allowance.cpp).
constexpr double roundings_of_weight = 7.0 / 6;

/// One that a kernel of pairs rounds, by a twentieth (exp2_nonpositive_bf16() of generators/math/transcendental.h).
constexpr double roundings_of_pair = 21.0 / 20;

/// Rounded queries and keys leave an error e in a score and e^e - 1 in its weight, which is below this times e for scores whose
/// errors come to 1.
constexpr double of_power = 1.72;

/// A gradient that is nothing but rounding errors of numbers that f32 holds.
constexpr double least = 1e-30;

} // namespace

BackwardErrors backward_errors(const std::string &forward_kernel, const gyre_attention_args &forward,
                               const std::string &kernel) {
    const KernelRounding rounding = rounding_of_kernel(forward_kernel);
    const double of_pairs = kernel.empty() ? 0 : rounding_of_kernel(kernel).operands;
    // Kernels that sum rounded weights write lse with a relative error of P of up to so much.
    const double of_lse = 2 * rounding.sum;
    const int rotated = !forward.rope ? 0 : forward.keys_rotated ? 1 : 2; // queries, and keys
    const double of_values = forward.value_rope && !forward.values_rotated ? rounding.operands : 0;
    // Kernels that multiply pairs of bf16 round the output's gradient once it is rotated.
    const double of_out_grad = forward.value_rope ? of_pairs : 0;
    return {f32_error + of_lse + of_values + of_out_grad + roundings_of_pair * of_pairs,
            roundings_of_score * f32_rounding + of_power * rotated * rounding.operands, roundings_of_result,
            roundings_of_weight * rounding.operands + rounding.products(), rotated ? rounding.operands : 0};
}

std::vector<double> gradient_allowance(const OracleGradient &expected, const BackwardErrors &errors, gyre_dtype dtype) {
    std::vector<double> allowed(expected.exact.data.size());
    for (size_t n = 0; n < allowed.size(); n++) {
        const double error = errors.weight * expected.by_weight.data[n] + errors.score * expected.by_score.data[n] +
                             errors.delta * expected.by_delta.data[n] + errors.operands * expected.by_operands.data[n] +
                             errors.rows * expected.by_rows.data[n] + least;
        allowed[n] = rounded_error(dtype, expected.exact.data[n], error);
    }
    return allowed;
}

OracleGradient bias_gradient(const OracleBackward &expected, std::vector<int64_t> shape) {
    const Dense &full = expected.scores.exact; // (batch, heads, seqlen_q, seqlen_kv)
    shape.insert(shape.begin(), 4 - shape.size(), 1);
    const Dense zeros(shape[0], shape[1], shape[2], shape[3]);
    OracleGradient sums{zeros, zeros, zeros, zeros, zeros, zeros};
    for (int64_t b = 0; b < full.batch; b++)
        for (int64_t h = 0; h < full.seqlen; h++)
            for (int64_t i = 0; i < full.heads; i++)
                for (int64_t j = 0; j < full.dim; j++) {
                    const auto from = (size_t)(((b * full.seqlen + h) * full.heads + i) * full.dim + j);
                    const auto to =
                        (size_t)(((b % shape[0] * shape[1] + h % shape[1]) * shape[2] + i % shape[2]) * shape[3] +
                                 j % shape[3]);
                    sums.exact.data[to] += expected.scores.exact.data[from];
                    sums.by_score.data[to] += expected.scores.by_score.data[from];
                    sums.by_weight.data[to] += expected.scores.by_weight.data[from];
                    sums.by_delta.data[to] += expected.scores.by_delta.data[from];
                    sums.by_operands.data[to] += expected.scores.by_operands.data[from];
                }
    return sums;
}

} // namespace gyre::test
