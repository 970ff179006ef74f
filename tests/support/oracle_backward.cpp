#include "oracle_backward.h"
#include "element.h"
#include "lanes.h"

#include <algorithm>
#include <cmath>

namespace gyre::test {
namespace {

/// Kernels take powers below 2^-126 for 0: a relative error of 1e-6 of this probability.
constexpr double least_weight = 0x1p-106;

/// Forward kernels take weights below 4 * 2^-100 of the row's largest for 0 (attention_allowance.cpp), so that a result, and delta with
/// it, lacks them: relative errors of 1e-6 of this much of each key.
constexpr double least_weight_of_delta = 0x1p-78;

/// Deviations of a sum of independent errors, in units of the largest (attention_allowance.cpp).
constexpr double largest_of_independent = 5;

double dot(const double *a, const double *b, int64_t dim) { return sums_of_products(a, b, dim).exact; }
double dot_of_magnitudes(const double *a, const double *b, int64_t dim) {
    return sums_of_products(a, b, dim).magnitude;
}

OracleGradient zeros_like(const Dense &x) {
    const Dense zeros(x.batch, x.seqlen, x.heads, x.dim);
    return {zeros, zeros, zeros, zeros, zeros, zeros};
}

void rotate_all(Dense &x, const OracleRotation &rotation, bool back) {
    for (int64_t b = 0; b < x.batch; b++)
        for (int64_t token = 0; token < x.seqlen; token++)
            for (int64_t h = 0; h < x.heads; h++) rotation.apply(x.head(b, token, h), b, token, back);
}

/// A rotation mixes the magnitudes of the two features of a pair, and one that has been rotated is off by the errors of both.
void mix_pairs(Dense &x, const OracleRotation &rotation) {
    for (int64_t row = 0; row < x.batch * x.seqlen * x.heads; row++) {
        double *head = x.data.data() + row * x.dim;
        const int64_t token = row / x.heads;
        for (int64_t pair = 0; pair < rotation.pairs(); pair++) {
            double &l = head[rotation.left(pair)], &r = head[rotation.right(pair)];
            l = r = (l + r) * rotation.growth(token / x.seqlen, token % x.seqlen, pair);
        }
    }
}

/// Rows after their rotation, and what their errors are relative to.
struct Rotated {
    const Dense &exact;
    Dense size;

    Rotated(const Dense &x, const OracleRotation &rotation) : exact(x), size(x) {
        for (double &number : size.data) number = std::fabs(number);
        mix_pairs(size, rotation);
    }
};

void undo(OracleGradient &gradient, const OracleRotation &rotation) {
    rotate_all(gradient.exact, rotation, true);
    mix_pairs(gradient.by_weight, rotation);
    mix_pairs(gradient.by_score, rotation);
    mix_pairs(gradient.by_delta, rotation);
    mix_pairs(gradient.by_operands, rotation);
    mix_pairs(gradient.by_rows, rotation);
}

/// What delta is off by, by half spacings of the result that it is formed from, and by errors of that result's weights.
struct DeltaError {
    double spacings = 0, operands = 0;
};

/// exact += weight x, and the magnitudes likewise.
struct Share {
    OracleGradient &to;
    int64_t batch, token, head;
    double score_size; // of the row
    bool rounded;      // x, where the forward kernel rounds what it has rotated

    void add(const Rotated &x, int64_t x_token, int64_t x_head, double weight, double weight_magnitude,
             const DeltaError &delta) const {
        const double *row = x.exact.head(batch, x_token, x_head), *size = x.size.head(batch, x_token, x_head);
        double *exact = to.exact.head(batch, token, head), *by_weight = to.by_weight.head(batch, token, head);
        double *by_score = to.by_score.head(batch, token, head), *by_delta = to.by_delta.head(batch, token, head);
        double *by_operands = to.by_operands.head(batch, token, head), *by_rows = to.by_rows.head(batch, token, head);
        for (int64_t d = 0; d < x.exact.dim; d++) {
            exact[d] += weight * row[d];
            by_weight[d] += weight_magnitude * size[d];
            by_score[d] += weight_magnitude * score_size * size[d];
            by_delta[d] += delta.spacings * size[d];
            by_operands[d] += delta.operands * size[d];
            if (rounded) by_rows[d] += std::fabs(weight) * size[d];
        }
    }
};

/// The sum of P (1 + e) dP for errors e that are independent and at most 1, of which the sum of P (1 + e) may be divided by, as out is:
/// at most this far off (attention_allowance.cpp).
double of_weights(const std::vector<double> &weights, const std::vector<double> &prob_grad, double delta) {
    double magnitude = 0, square = 0;
    for (size_t j = 0; j < weights.size(); j++) {
        if (weights[j] == 0) continue;
        const double term = weights[j] * prob_grad[j];
        magnitude += std::fabs(term);
        square += term * term;
    }
    return std::min(2 * magnitude, std::fabs(delta) + largest_of_independent * std::sqrt(square));
}

} // namespace

OracleBackward oracle_backward(const gyre_attention_args &forward, const gyre_tensor &out_grad) {
    OracleScores scores(forward);
    const Dense &q = scores.q(), &k = scores.k();
    Dense v(forward.v, forward.layout), grad(out_grad, forward.layout);
    OracleRotation q_rotation, k_rotation, v_rotation, out_rotation;
    const auto rotation = [&](const gyre_rope &rope, const Dense &x, const std::vector<double> &positions,
                              bool factor) {
        return OracleRotation(rope, x.dim, x.batch, x.seqlen, positions, factor);
    };
    if (forward.rope) q_rotation = rotation(*forward.rope, q, scores.q_positions(), true);
    if (forward.rope && !forward.keys_rotated) k_rotation = rotation(*forward.rope, k, scores.k_positions(), true);
    if (forward.value_rope) out_rotation = rotation(*forward.value_rope, grad, scores.q_positions(), false);
    if (forward.value_rope && !forward.values_rotated)
        v_rotation = rotation(*forward.value_rope, v, scores.k_positions(), false);
    const Dense stored_grad = grad;
    rotate_all(v, v_rotation, false);
    rotate_all(grad, out_rotation, false);
    const Rotated queries(q, q_rotation), keys(k, k_rotation), values(v, v_rotation), grads(grad, out_rotation);

    const double scale = forward.scale == 0 ? 1 / std::sqrt((double)q.dim) : (double)forward.scale;
    OracleBackward result{zeros_like(q), zeros_like(k), zeros_like(v), {}};
    if (forward.bias) result.scores = zeros_like(Dense(q.batch, q.heads, q.seqlen, k.seqlen));
    std::vector<double> out, prob_grad, prob_size; // of a row
    for (const OracleSequence &s : scores.sequences())
        for (int64_t h = 0; h < q.heads; h++)
            for (int64_t i = 0; i < s.q_length; i++) {
                const OracleRow &row = scores.row(s, h, i);
                const int64_t at = s.q_begin + i, kv = scores.kv_head(h);
                const double *query = q.head(s.batch, at, h), *go = grad.head(s.batch, at, h);
                out.assign((size_t)v.dim, 0);
                prob_grad.assign((size_t)s.k_length, 0);
                prob_size.assign((size_t)s.k_length, 0);
                double delta = 0, lost_size = 0;
                for (int64_t j = 0; j < s.k_length; j++) {
                    const double p = row.weights[(size_t)j];
                    if (p == 0) continue; // masked keys may hold NaN
                    const double *value = v.head(s.batch, s.k_begin + j, kv);
                    const double keep = row.keep[(size_t)j];
                    prob_grad[(size_t)j] = keep * dot(go, value, v.dim);
                    prob_size[(size_t)j] =
                        keep * dot_of_magnitudes(grads.size.head(s.batch, at, h),
                                                 values.size.head(s.batch, s.k_begin + j, kv), v.dim);
                    delta += p * prob_grad[(size_t)j];
                    lost_size += least_weight_of_delta * prob_size[(size_t)j];
                    for (int64_t d = 0; d < v.dim; d++) out[(size_t)d] += keep * p * value[d];
                }
                double delta_size = dot_of_magnitudes(out.data(), go, v.dim);
                out_rotation.apply(out.data(), s.batch, at, true); // as it is stored, and rounded
                const double *stored = stored_grad.head(s.batch, at, h);
                delta_size = std::max(delta_size, dot_of_magnitudes(out.data(), stored, v.dim)) + lost_size;
                for (double &number : out) number = rounding_of(forward.out.dtype, number);
                const DeltaError off{dot_of_magnitudes(out.data(), stored, v.dim),
                                     of_weights(row.weights, prob_grad, delta)};
                for (int64_t j = 0; j < s.k_length; j++) {
                    const double p = row.weights[(size_t)j];
                    if (p == 0) continue;
                    const double *key = k.head(s.batch, s.k_begin + j, kv);
                    const double score = scale * dot(query, key, q.dim);
                    const double bend = forward.softcap > 0 ? std::tanh(score / forward.softcap) : 0;
                    const double slope = scale * (1 - bend * bend);
                    const double ds = p * (prob_grad[(size_t)j] - delta) * slope;
                    const double p_size = std::max(p, least_weight);
                    const double size = p_size * (prob_size[(size_t)j] + delta_size) * std::fabs(scale);
                    const DeltaError delta_error{p * off.spacings * std::fabs(slope),
                                                 p * off.operands * std::fabs(slope)};
                    Share{result.q, s.batch, at, h, row.size.sum, true}.add(keys, s.k_begin + j, kv, ds, size,
                                                                            delta_error);
                    Share{result.k, s.batch, s.k_begin + j, kv, row.size.sum, true}.add(queries, at, h, ds, size,
                                                                                        delta_error);
                    const double keep = row.keep[(size_t)j];
                    Share{result.v, s.batch, s.k_begin + j, kv, row.size.sum, false}.add(grads, at, h, keep * p,
                                                                                         keep * p_size, {});
                    if (!forward.bias) continue;
                    const double score_grad = p * (prob_grad[(size_t)j] - delta);
                    OracleGradient &to = result.scores;
                    const int64_t at_score = ((s.batch * q.heads + h) * q.seqlen + i) * k.seqlen + j;
                    to.exact.data[(size_t)at_score] += score_grad;
                    to.by_weight.data[(size_t)at_score] += p_size * (prob_size[(size_t)j] + delta_size);
                    to.by_score.data[(size_t)at_score] += p_size * (prob_size[(size_t)j] + delta_size) * row.size.sum;
                    to.by_delta.data[(size_t)at_score] += p * off.spacings;
                    to.by_operands.data[(size_t)at_score] += p * off.operands;
                }
            }
    undo(result.q, q_rotation);
    undo(result.k, k_rotation);
    undo(result.v, v_rotation);
    return result;
}

} // namespace gyre::test
