#include "oracle_attention.h"
#include "oracle_scores.h"

#include <cmath>

namespace gyre::test {
namespace {

/// The sums of one output row.
struct OutputSums {
    double *out, *magnitude, *square, *visible;

    /// Masked keys have no weight, and may hold NaN.
    void add(double weight, double keep, const double *v, int64_t dim) const {
        if (weight == 0 || keep == 0) return;
        double *__restrict to = out, *__restrict magnitudes = magnitude, *__restrict squares = square;
        double *__restrict values = visible;
        for (int64_t d = 0; d < dim; d++) {
            const double value = keep * v[d], term = weight * value;
            to[d] += term;
            magnitudes[d] += std::fabs(term);
            squares[d] += term * term;
            values[d] += std::fabs(value);
        }
    }

    void rotate_back(const OracleRotation &rotation, int64_t b, int64_t token) const {
        rotation.apply(out, b, token, true);
        for (double *sums : {magnitude, square, visible})
            for (int64_t pair = 0; pair < rotation.pairs(); pair++) {
                double &left = sums[rotation.left(pair)], &right = sums[rotation.right(pair)];
                left = right = left + right;
            }
    }
};

/// The rope with frequencies only, to be applied at a difference of positions, which may be negative.
void rotate_by(double *v, const gyre_rope &rope, int64_t dim, double difference) {
    const OracleRotation rotation(rope, dim, 1, 1, {difference}, false);
    rotation.apply(v, 0, 0);
}

} // namespace

OracleAttention oracle_attention(const gyre_attention_args &args, const OracleScore &score_function) {
    OracleScores scores(args, score_function);
    const Dense &q = scores.q(), &k = scores.k();
    Dense v(args.v, args.layout);
    OracleAttention result;
    result.out = result.magnitude = result.square = result.visible = Dense(q.batch, q.seqlen, q.heads, v.dim);
    result.score_size.resize((size_t)(q.batch * q.heads * q.seqlen));
    result.lse.resize((size_t)(q.batch * q.heads * q.seqlen));
    result.keys.resize(result.lse.size());

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
                const int64_t token = s.q_begin + i;
                const OutputSums sums{result.out.head(s.batch, token, h), result.magnitude.head(s.batch, token, h),
                                      result.square.head(s.batch, token, h), result.visible.head(s.batch, token, h)};
                const auto at = (size_t)((s.batch * q.heads + h) * q.seqlen + token);
                for (int64_t j = 0; j < s.k_length; j++) {
                    sums.add(row.weights[(size_t)j], row.keep[(size_t)j],
                             v.head(s.batch, s.k_begin + j, scores.kv_head(h)), v.dim);
                    if (row.weights[(size_t)j] != 0) result.keys[at] += row.keep[(size_t)j];
                }
                sums.rotate_back(out_rotation, s.batch, token);
                result.lse[at] = row.lse;
                result.score_size[at] = row.size;
            }
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
                    double *out = result.head(s.batch, s.q_begin + i, h);
                    for (int64_t d = 0; d < v.dim; d++) out[d] += row.weights[(size_t)j] * turned[(size_t)d];
                }
            }
    return result;
}

} // namespace gyre::test
