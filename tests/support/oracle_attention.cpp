#include "oracle_attention.h"
#include "oracle_scores.h"

#include <algorithm>
#include <cmath>

namespace gyre::test {
namespace {

/// out[i] += weight v, for every visible key; masked keys may hold NaN.
void accumulate(double *out, double weight, const double *v, int64_t dim) {
    if (weight == 0) return;
    for (int64_t d = 0; d < dim; d++) out[d] += weight * v[d];
}

/// The rope with frequencies only, to be applied at a difference of positions, which may be negative.
void rotate_by(double *v, const gyre_rope &rope, int64_t dim, double difference) {
    const OracleRotation rotation(rope, dim, 1, 1, {difference}, false);
    rotation.apply(v, 0, 0);
}

/// Matrix tiles, and matrices in vector registers, take weights, and rotated queries, keys and values, rounded to bf16. Where many keys count, the
/// roundings all but cancel; all in all they may cost as much as storing the result. The weights' sum is off by a
/// rounding at most.
constexpr double lse_in_bf16 = 1.0 / 128;

bool multiplies_in_bf16(const std::string &kernel) {
    const std::string target = kernel.substr(std::min(kernel.find("__"), kernel.size()));
    return target == "__x86_64_amx" || target == "__arm_64_bf16";
}

} // namespace

OracleAttention oracle_attention(const gyre_attention_args &args, const OracleScore &score_function) {
    OracleScores scores(args, score_function);
    const Dense &q = scores.q(), &k = scores.k();
    Dense v(args.v, args.layout);
    OracleAttention result;
    result.out = Dense(q.batch, q.seqlen, q.heads, v.dim);
    result.lse.resize((size_t)(q.batch * q.heads * q.seqlen));

    OracleRotation v_rotation, out_rotation;
    if (args.value_rope) {
        v_rotation = OracleRotation(*args.value_rope, v.dim, k.batch, k.seqlen, scores.k_positions(), false);
        out_rotation = OracleRotation(*args.value_rope, v.dim, q.batch, q.seqlen, scores.q_positions(), false);
        for (int64_t b = 0; b < v.batch && !args.values_rotated; b++)
            for (int64_t token = 0; token < v.seqlen; token++)
                for (int64_t h = 0; h < v.heads; h++) v_rotation.apply(v.head(b, token, h), b, token);
    }
    for (const OracleSequence &s : scores.sequences())
        for (int64_t h = 0; h < q.heads; h++)
            for (int64_t i = 0; i < s.q_length; i++) {
                const OracleRow row = scores.row(s, h, i);
                double *out = result.out.head(s.batch, s.q_begin + i, h);
                for (int64_t j = 0; j < s.k_length; j++)
                    accumulate(out, row.weights[(size_t)j] * row.keep[(size_t)j],
                               v.head(s.batch, s.k_begin + j, scores.kv_head(h)), v.dim);
                out_rotation.apply(out, s.batch, s.q_begin + i, true);
                result.lse[(size_t)((s.batch * q.heads + h) * q.seqlen + s.q_begin + i)] = row.lse;
            }
    result.largest_score = scores.largest_score();
    return result;
}

Dense oracle_attention_second_form(const gyre_attention_args &args) {
    OracleScores scores(args);
    const Dense &q = scores.q(), &k = scores.k();
    const Dense v(args.v, args.layout);
    Dense result(q.batch, q.seqlen, q.heads, v.dim);
    for (const OracleSequence &s : scores.sequences())
        for (int64_t h = 0; h < q.heads; h++)
            for (int64_t i = 0; i < s.q_length; i++) {
                const OracleRow row = scores.row(s, h, i);
                const double at_query = scores.q_positions()[(size_t)(s.batch * q.seqlen + s.q_begin + i)];
                for (int64_t j = 0; j < s.k_length; j++) {
                    if (row.weights[(size_t)j] == 0) continue;
                    const double at_key = scores.k_positions()[(size_t)(s.batch * k.seqlen + s.k_begin + j)];
                    const double *value = v.head(s.batch, s.k_begin + j, scores.kv_head(h));
                    std::vector<double> turned(value, value + v.dim);
                    rotate_by(turned.data(), *args.value_rope, v.dim, at_key - at_query);
                    accumulate(result.head(s.batch, s.q_begin + i, h), row.weights[(size_t)j], turned.data(), v.dim);
                }
            }
    return result;
}

double attention_tolerance(const OracleAttention &expected) {
    double largest_output = 1;
    for (const double x : expected.out.data) largest_output = std::max(largest_output, std::fabs(x));
    constexpr double promised = 2e-6, f32_spacing = 1.2e-7;
    return promised + 2 * f32_spacing * expected.largest_score * largest_output;
}

double output_rounding(const std::vector<double> &exact, gyre_dtype dtype) {
    double largest = 0;
    for (const double x : exact) largest = std::max(largest, std::fabs(x));
    return dtype == GYRE_F16 ? largest / 2048 : dtype == GYRE_BF16 ? largest / 256 : 0;
}

AttentionAllowance attention_allowance(const OracleAttention &expected, gyre_dtype dtype, const std::string &kernel,
                                       double tolerance) {
    const double rounding = output_rounding(expected.out.data, dtype);
    const bool tiles = multiplies_in_bf16(kernel);
    // On CUDA devices weights are rounded to the tensors' type, and nothing else is.
    const bool rounds_weights = tiles || kernel.find("__cuda") != std::string::npos;
    return {tolerance + (rounds_weights ? 2.5 : 1) * rounding, 2 * tolerance + (tiles ? lse_in_bf16 : 0)};
}

} // namespace gyre::test
