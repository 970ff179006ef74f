#include "oracle_scores.h"
#include "lanes.h"
#include "philox.h"
#include "tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gyre::test {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// What a key that is seen weighs at least, however far its score is below the largest: a NaN in its value shows.
constexpr double least_weight = std::numeric_limits<double>::denorm_min();

std::vector<OracleSequence> sequences_of(const gyre_attention_args &args, const Dense &q, const Dense &k) {
    std::vector<OracleSequence> sequences;
    const bool packed = args.layout == GYRE_THD;
    const int64_t count = packed ? args.cu_seqlens_q->shape[0] - 1 : q.batch;
    for (int64_t b = 0; b < count; b++) {
        OracleSequence sequence{b, b, 0, q.seqlen, 0, k.seqlen};
        if (packed) {
            const std::vector<double> cu_q = values_of(*args.cu_seqlens_q), cu_k = values_of(*args.cu_seqlens_k);
            const auto begin = (size_t)b, end = begin + 1;
            sequence = {b,
                        0,
                        (int64_t)cu_q[begin],
                        (int64_t)(cu_q[end] - cu_q[begin]),
                        (int64_t)cu_k[begin],
                        (int64_t)(cu_k[end] - cu_k[begin])};
        }
        if (args.seqused_k) sequence.k_length = (int64_t)values_of(*args.seqused_k)[(size_t)b];
        sequences.push_back(sequence);
    }
    return sequences;
}

/// An element of a view that broadcasts to [batch, heads, seqlen_q, seqlen_kv] by NumPy's rule.
double read_broadcast(const gyre_tensor &view, const int64_t (&index)[4]) {
    int64_t offset = 0;
    for (int32_t k = 0; k < view.rank; k++)
        if (view.shape[k] != 1) offset += index[4 - view.rank + k] * view.strides[k];
    return read_element(view, offset);
}

double read_vector(const gyre_tensor &view, int64_t i) { return read_element(view, i * view.strides[0]); }

void rotate_all(Dense &x, const OracleRotation &rotation) {
    for (int64_t b = 0; b < x.batch; b++)
        for (int64_t token = 0; token < x.seqlen; token++)
            for (int64_t h = 0; h < x.heads; h++) rotation.apply(x.head(b, token, h), b, token);
}

} // namespace

OracleScores::OracleScores(const gyre_attention_args &args, OracleScore score_function)
    : args_(args), q_(args.q, args.layout), k_(args.k, args.layout), sequences_(sequences_of(args, q_, k_)),
      scale_(args.scale == 0 ? 1 / std::sqrt((double)q_.dim) : (double)args.scale),
      score_function_(std::move(score_function)) {
    std::vector<double> q_default((size_t)(q_.batch * q_.seqlen)), k_default((size_t)(k_.batch * k_.seqlen));
    for (const OracleSequence &s : sequences_) {
        for (int64_t i = 0; i < s.q_length; i++)
            q_default[(size_t)(s.batch * q_.seqlen + s.q_begin + i)] = (double)(s.k_length - s.q_length + i);
        for (int64_t j = 0; j < s.k_length; j++) k_default[(size_t)(s.batch * k_.seqlen + s.k_begin + j)] = (double)j;
    }
    const gyre_rope *any_rope = args.rope ? args.rope : args.value_rope; // both have the same axes
    const int32_t axes = any_rope ? any_rope->axes : 1;
    q_positions_ = resolve_positions(args.q_positions, axes, q_.batch, q_.seqlen, q_default);
    k_positions_ = resolve_positions(args.k_positions, axes, k_.batch, k_.seqlen, k_default);
    if (!args.rope) return;
    rotate_all(q_, OracleRotation(*args.rope, q_.dim, q_.batch, q_.seqlen, q_positions_, true));
    if (!args.keys_rotated) rotate_all(k_, OracleRotation(*args.rope, k_.dim, k_.batch, k_.seqlen, k_positions_, true));
}

int64_t OracleScores::ahead(const OracleSequence &s, int64_t i, int64_t j) const {
    return j - i - (args_.alignment == GYRE_BOTTOM_RIGHT ? s.k_length - s.q_length : 0);
}

bool OracleScores::masks(const OracleSequence &s, int64_t head, int64_t i, int64_t j) const {
    const int64_t distance = ahead(s, i, j);
    if (args_.causal && distance > 0) return true;
    if (args_.window_left >= 0 && -distance > args_.window_left) return true;
    if (args_.window_right >= 0 && distance > args_.window_right) return true;
    const int64_t index[4] = {s.entry, head, i, j};
    if (args_.mask && read_broadcast(*args_.mask, index) == 0) return true;
    return args_.bias && read_broadcast(*args_.bias, index) == minus_infinity;
}

double OracleScores::score(const OracleSequence &s, int64_t head, int64_t i, int64_t j, ScoreSize &size) const {
    const double *q = q_.head(s.batch, s.q_begin + i, head), *k = k_.head(s.batch, s.k_begin + j, kv_head(head));
    const ProductSums sums = sums_of_products(q, k, q_.dim);
    double score = sums.exact * scale_, magnitude = sums.magnitude * std::fabs(scale_);
    if (args_.softcap > 0) score = args_.softcap * std::tanh(score / args_.softcap);
    const auto add = [&](double term) {
        score += term;
        magnitude += std::fabs(term);
    };
    const int64_t distance = ahead(s, i, j), index[4] = {s.entry, head, i, j};
    if (score_function_)
        add(score_function_({score, scale_, s.entry, head, i, j, s.q_begin + i, s.k_begin + j, distance}) - score);
    if (args_.alibi) add(read_vector(*args_.alibi, head) * (double)distance);
    if (args_.bias) add(read_broadcast(*args_.bias, index));
    if (score == minus_infinity) return score;
    size.sum = std::max(size.sum, magnitude);
    size.norm = std::max(size.norm, std::sqrt(sums.square) * std::fabs(scale_));
    return score;
}

const OracleRow &OracleScores::row(const OracleSequence &s, int64_t head, int64_t i) {
    OracleRow &row = row_;
    row.weights.clear();
    row.keep.clear();
    row.size = {};
    double maximum = minus_infinity;
    bool has_nan = false;
    for (int64_t j = 0; j < s.k_length; j++) {
        const bool masked = masks(s, head, i, j);
        row.weights.push_back(masked ? minus_infinity : score(s, head, i, j, row.size));
        row.keep.push_back(dropout_factor(args_, q_.heads, s.entry, head, i, j));
        maximum = std::max(maximum, row.weights.back());
        has_nan = has_nan || std::isnan(row.weights.back());
    }
    if (maximum == minus_infinity && !has_nan) {
        row.weights.assign(row.weights.size(), 0.0);
        row.lse = minus_infinity;
        return row;
    }
    const double sink = args_.sinks ? read_vector(*args_.sinks, head) : minus_infinity;
    maximum = std::max(maximum, sink);
    if (std::isfinite(sink)) row.size.sum = std::max(row.size.sum, std::fabs(sink));
    double sum = std::exp(sink - maximum);
    sees_.clear();
    for (double &weight : row.weights) {
        sees_.push_back(weight != minus_infinity);
        sum += weight = std::exp(weight - maximum);
    }
    for (size_t j = 0; j < sees_.size(); j++)
        row.weights[j] = std::max(row.weights[j] / sum, sees_[j] ? least_weight : 0);
    row.lse = maximum + std::log(sum);
    return row;
}

} // namespace gyre::test
