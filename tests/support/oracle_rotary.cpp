#include "oracle_rotary.h"
#include "element.h"
#include "tensor.h"

#include <algorithm>
#include <cmath>

namespace gyre::test {
namespace {

int64_t rotary_dim_of(const gyre_rope &rope, int64_t head_dim) {
    return rope.rotary_dim ? rope.rotary_dim : head_dim - rope.rotary_offset;
}

int32_t axis_count(const gyre_rope &rope) { return rope.axes > 1 ? rope.axes : 1; }

/// The position axis that a pair reads (M-RoPE).
int32_t axis_of(const gyre_rope &rope, int64_t pair) {
    const int32_t axes = axis_count(rope);
    if (axes == 1) return 0;
    if (rope.section_order == GYRE_SECTIONS_INTERLEAVED) {
        const int32_t axis = (int32_t)(pair % axes);
        return pair < (int64_t)axes * rope.sections[axis] ? axis : 0;
    }
    int32_t axis = 0;
    for (int64_t end = rope.sections[0]; pair >= end; end += rope.sections[axis]) axis++;
    return axis;
}

/// The angle's direction in [-pi, pi], where double suffices.
double within_a_turn(long double angle) {
    static const long double turn = 2 * std::acos(-1.0L);
    return (double)(angle - turn * std::nearbyint(angle / turn));
}

} // namespace

std::vector<double> resolve_positions(const gyre_tensor *given, int32_t axes, int64_t batch, int64_t seqlen,
                                      const std::vector<double> &fallback) {
    if (axes < 1) axes = 1;
    std::vector<double> positions;
    for (int32_t axis = 0; axis < axes; axis++)
        for (int64_t b = 0; b < batch; b++)
            for (int64_t token = 0; token < seqlen; token++) {
                if (!given) {
                    positions.push_back(fallback[(size_t)(b * seqlen + token)]);
                    continue;
                }
                const int axis_rank = axes > 1 ? 1 : 0;
                const bool per_batch = given->rank == axis_rank + 2;
                int64_t offset = token * given->strides[given->rank - 1];
                if (per_batch) offset += b * given->strides[given->rank - 2];
                if (axes > 1) offset += axis * given->strides[0];
                positions.push_back(read_element(*given, offset));
            }
    return positions;
}

long double oracle_frequency(const gyre_rope &rope, int64_t head_dim, int64_t pair) {
    if (rope.inv_freq) return rope.inv_freq[pair];
    const int64_t denominator = rope.frequency_base == GYRE_OVER_HEAD_DIM ? head_dim : rotary_dim_of(rope, head_dim);
    return std::pow((long double)rope.theta, -2.0L * pair / denominator);
}

OracleRotation::OracleRotation(const gyre_rope &rope, int64_t head_dim, int64_t batch, int64_t seqlen,
                               const std::vector<double> &positions, bool with_factor)
    : pairing_(rope.pairing), first_(rope.rotary_offset), pairs_(rotary_dim_of(rope, head_dim) / 2), seqlen_(seqlen),
      cos_((size_t)(batch * seqlen * pairs_)), sin_(cos_.size()) {
    const double factor = with_factor ? rope.attention_factor : 1.0;
    for (int64_t pair = 0; pair < pairs_; pair++) {
        const int32_t axis = axis_of(rope, pair);
        const long double frequency = rope.cos ? 0 : oracle_frequency(rope, head_dim, pair);
        for (int64_t b = 0; b < batch; b++)
            for (int64_t token = 0; token < seqlen; token++) {
                const double position = positions[(size_t)((axis * batch + b) * seqlen + token)];
                double &cosine = cos_[index(b, token, pair)], &sine = sin_[index(b, token, pair)];
                if (!rope.cos) {
                    const double angle = within_a_turn(position * frequency);
                    cosine = factor * std::cos(angle);
                    sine = factor * std::sin(angle);
                    continue;
                }
                const bool by_token = rope.cos->rank == 3;
                const auto read = [&](const gyre_tensor &table) {
                    const int64_t row = by_token ? b * table.strides[0] + token * table.strides[1]
                                                 : (int64_t)position * table.strides[0];
                    return read_element(table, row + pair);
                };
                cosine = read(*rope.cos);
                sine = read(*rope.sin);
            }
    }
}

void OracleRotation::apply(double *x, int64_t b, int64_t token, bool back) const {
    for (int64_t pair = 0; pair < pairs_; pair++) {
        double &l = x[left(pair)], &r = x[right(pair)];
        const double c = cosine(b, token, pair), s = back ? -sine(b, token, pair) : sine(b, token, pair);
        const double rotated = l * c - r * s;
        r = r * c + l * s;
        l = rotated;
    }
}

OracleRotary oracle_rotary(const gyre_rotary_args &args) {
    const Dense x(args.x, args.layout);
    std::vector<double> fallback;
    for (int64_t i = 0; i < x.batch * x.seqlen; i++) fallback.push_back((double)(args.position_offset + i % x.seqlen));
    const std::vector<double> positions =
        resolve_positions(args.positions, args.rope.axes, x.batch, x.seqlen, fallback);
    const OracleRotation rotation(args.rope, x.dim, x.batch, x.seqlen, positions, true);

    OracleRotary result{x, Dense(x.batch, x.seqlen, x.heads, x.dim)};
    for (int64_t b = 0; b < x.batch; b++)
        for (int64_t token = 0; token < x.seqlen; token++)
            for (int64_t h = 0; h < x.heads; h++) {
                rotation.apply(result.out.head(b, token, h), b, token, args.reverse != 0);
                double *magnitude = result.magnitude.head(b, token, h);
                for (int64_t pair = 0; pair < rotation.pairs(); pair++) {
                    const int64_t left = rotation.left(pair), right = rotation.right(pair);
                    const double *from = x.head(b, token, h);
                    magnitude[left] = magnitude[right] = std::fabs(from[left]) + std::fabs(from[right]);
                }
            }
    return result;
}

std::vector<double> rotary_tolerances(const gyre_rotary_args &args, const OracleRotary &expected) {
    const double factor = args.rope.cos ? 1.0 : std::max(1.0, args.rope.attention_factor);
    constexpr double promised = 2e-6, f32_arithmetic = 3 * 6e-8;
    std::vector<double> allowed;
    for (size_t i = 0; i < expected.out.data.size(); i++) {
        const double magnitude = expected.magnitude.data[i];
        allowed.push_back(magnitude == 0 ? 0
                                         : rounded_error(args.out.dtype, expected.out.data[i],
                                                         factor * (promised + f32_arithmetic) * magnitude));
    }
    return allowed;
}

} // namespace gyre::test
