#include "oracle_backward.h"

#include <algorithm>
#include <cmath>

namespace gyre::test {
namespace {

/// Kernels take powers below 2^-64, 5e-20, for that: a relative error of 2e-6 of this probability.
constexpr double least_weight = 3e-14;

double dot(const double *a, const double *b, int64_t dim) {
    double sum = 0;
    for (int64_t d = 0; d < dim; d++) sum += a[d] * b[d];
    return sum;
}

double dot_of_magnitudes(const double *a, const double *b, int64_t dim) {
    double sum = 0;
    for (int64_t d = 0; d < dim; d++) sum += std::fabs(a[d] * b[d]);
    return sum;
}

OracleGradient zeros_like(const Dense &x) {
    const Dense zeros(x.batch, x.seqlen, x.heads, x.dim);
    return {zeros, zeros, zeros, zeros};
}

void rotate_all(Dense &x, const OracleRotation &rotation, bool back) {
    for (int64_t b = 0; b < x.batch; b++)
        for (int64_t token = 0; token < x.seqlen; token++)
            for (int64_t h = 0; h < x.heads; h++) rotation.apply(x.head(b, token, h), b, token, back);
}

/// Of magnitudes: a rotation mixes the two features of a pair.
void mix_pairs(Dense &x, const OracleRotation &rotation) {
    for (int64_t row = 0; row < x.batch * x.seqlen * x.heads; row++) {
        double *head = x.data.data() + row * x.dim;
        for (int64_t pair = 0; pair < rotation.pairs(); pair++) {
            double &l = head[rotation.left(pair)], &r = head[rotation.right(pair)];
            l = r = l + r;
        }
    }
}

void undo(OracleGradient &gradient, const OracleRotation &rotation) {
    rotate_all(gradient.exact, rotation, true);
    mix_pairs(gradient.by_weight, rotation);
    mix_pairs(gradient.by_score, rotation);
    mix_pairs(gradient.by_delta, rotation);
}

/// exact += weight x, and the magnitudes likewise.
struct Share {
    OracleGradient &to;
    int64_t batch, token, head;
    double score_size; // of the row

    void add(const double *x, int64_t dim, double weight, double weight_magnitude, double delta_magnitude) const {
        double *exact = to.exact.head(batch, token, head), *by_weight = to.by_weight.head(batch, token, head);
        double *by_score = to.by_score.head(batch, token, head), *by_delta = to.by_delta.head(batch, token, head);
        for (int64_t d = 0; d < dim; d++) {
            exact[d] += weight * x[d];
            by_weight[d] += weight_magnitude * std::fabs(x[d]);
            by_score[d] += weight_magnitude * score_size * std::fabs(x[d]);
            by_delta[d] += delta_magnitude * std::fabs(x[d]);
        }
    }
};

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

    const double scale = forward.scale == 0 ? 1 / std::sqrt((double)q.dim) : (double)forward.scale;
    OracleBackward result{zeros_like(q), zeros_like(k), zeros_like(v), {}};
    if (forward.bias) result.scores = zeros_like(Dense(q.batch, q.heads, q.seqlen, k.seqlen));
    for (const OracleSequence &s : scores.sequences())
        for (int64_t h = 0; h < q.heads; h++)
            for (int64_t i = 0; i < s.q_length; i++) {
                const OracleRow row = scores.row(s, h, i);
                const int64_t at = s.q_begin + i, kv = scores.kv_head(h);
                const double *query = q.head(s.batch, at, h), *go = grad.head(s.batch, at, h);
                std::vector<double> out((size_t)v.dim), prob_grad((size_t)s.k_length), prob_size(prob_grad);
                double delta = 0;
                for (int64_t j = 0; j < s.k_length; j++) {
                    const double p = row.weights[(size_t)j];
                    if (p == 0) continue; // masked keys may hold NaN
                    const double *value = v.head(s.batch, s.k_begin + j, kv);
                    const double keep = row.keep[(size_t)j];
                    prob_grad[(size_t)j] = keep * dot(go, value, v.dim);
                    prob_size[(size_t)j] = keep * dot_of_magnitudes(go, value, v.dim);
                    delta += p * prob_grad[(size_t)j];
                    for (int64_t d = 0; d < v.dim; d++) out[(size_t)d] += keep * p * value[d];
                }
                double delta_size = dot_of_magnitudes(out.data(), go, v.dim);
                out_rotation.apply(out.data(), s.batch, at, true); // as it is stored, and rounded
                const double rounded_size = dot_of_magnitudes(out.data(), stored_grad.head(s.batch, at, h), v.dim);
                delta_size = std::max(delta_size, rounded_size);
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
                    const double by_delta = p * rounded_size * std::fabs(slope);
                    Share{result.q, s.batch, at, h, row.size.sum}.add(key, q.dim, ds, size, by_delta);
                    Share{result.k, s.batch, s.k_begin + j, kv, row.size.sum}.add(query, q.dim, ds, size, by_delta);
                    const double keep = row.keep[(size_t)j];
                    Share{result.v, s.batch, s.k_begin + j, kv, row.size.sum}.add(go, v.dim, keep * p, keep * p_size,
                                                                                  0);
                    if (!forward.bias) continue;
                    const double score_grad = p * (prob_grad[(size_t)j] - delta);
                    OracleGradient &to = result.scores;
                    const int64_t at_score = ((s.batch * q.heads + h) * q.seqlen + i) * k.seqlen + j;
                    to.exact.data[(size_t)at_score] += score_grad;
                    to.by_weight.data[(size_t)at_score] += p_size * (prob_size[(size_t)j] + delta_size);
                    to.by_score.data[(size_t)at_score] += p_size * (prob_size[(size_t)j] + delta_size) * row.size.sum;
                    to.by_delta.data[(size_t)at_score] += p * rounded_size;
                }
            }
    undo(result.q, q_rotation);
    undo(result.k, k_rotation);
    undo(result.v, v_rotation);
    return result;
}

} // namespace gyre::test
