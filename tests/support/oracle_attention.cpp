#include "oracle_attention.h"
#include "lanes.h"
#include "oracle_scores.h"

#include <cmath>

namespace gyre::test {
namespace {

/// The sums of one output row.
struct OutputSums {
    double *out, *magnitude, *square, *visible;

    /// What the keys add to features d to d + 3; their values lie `stride` apart. Masked keys have no weight, and may hold NaN.
    void form_four(int64_t d, const OracleRow &row, const double *v, int64_t stride) const {
        Lanes to[2] = {}, magnitudes[2] = {}, squares[2] = {}, values[2] = {};
        const auto add = [&](const double *from, double weight, double keep, int part) {
            Lanes value, size;
            load_lanes(value, from);
            value *= keep;
            const Lanes term = weight * value;
            to[part] += term;
            squares[part] += term * term;
            magnitude_of(size, term);
            magnitudes[part] += size;
            magnitude_of(size, value);
            values[part] += size;
        };
        for (size_t j = 0; j < row.weights.size(); j++, v += stride) {
            const double weight = row.weights[j], keep = row.keep[j];
            if (weight == 0 || keep == 0) continue;
            add(v + d, weight, keep, 0);
            add(v + d + 2, weight, keep, 1);
        }
        for (int part = 0; part < 2; part++) {
            store_lanes(out + d + 2 * part, to[part]);
            store_lanes(magnitude + d + 2 * part, magnitudes[part]);
            store_lanes(square + d + 2 * part, squares[part]);
            store_lanes(visible + d + 2 * part, values[part]);
        }
    }

    /// Forms one feature, as form_four() does four.
    void form_one(int64_t d, const OracleRow &row, const double *v, int64_t stride) const {
        for (size_t j = 0; j < row.weights.size(); j++, v += stride) {
            if (row.weights[j] == 0 || row.keep[j] == 0) continue;
            const double value = row.keep[j] * v[d], term = row.weights[j] * value;
            out[d] += term;
            magnitude[d] += std::fabs(term);
            square[d] += term * term;
            visible[d] += std::fabs(value);
        }
    }

    void form(const OracleRow &row, const double *v, int64_t stride, int64_t dim) const {
        int64_t d = 0;
        for (; d + 4 <= dim; d += 4) form_four(d, row, v, stride);
        for (; d < dim; d++) form_one(d, row, v, stride);
    }

    void rotate_back(const OracleRotation &rotation, int64_t b, int64_t token) const {
        rotation.apply(out, b, token, true);
        for (double *sums : {magnitude, square, visible})
            for (int64_t pair = 0; pair < rotation.pairs(); pair++) {
                double &left = sums[rotation.left(pair)], &right = sums[rotation.right(pair)];
                left = right = (left + right) * rotation.growth(b, token, pair);
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
                const OracleRow &row = scores.row(s, h, i);
                const int64_t token = s.q_begin + i;
                const OutputSums sums{result.out.head(s.batch, token, h), result.magnitude.head(s.batch, token, h),
                                      result.square.head(s.batch, token, h), result.visible.head(s.batch, token, h)};
                const auto at = (size_t)((s.batch * q.heads + h) * q.seqlen + token);
                sums.form(row, v.head(s.batch, s.k_begin, scores.kv_head(h)), v.heads * v.dim, v.dim);
                for (int64_t j = 0; j < s.k_length; j++)
                    if (row.weights[(size_t)j] != 0) result.keys[at] += row.keep[(size_t)j];
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
                const OracleRow &row = scores.row(s, h, i);
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
