#include "plots/plot_data.h"

#include "calls/rotary_call.h"

#include <algorithm>
#include <cmath>

namespace gyre::cli {
namespace {

const double pi = 3.14159265358979323846;

} // namespace

RotatedHeads::RotatedHeads(const RotationOptions &rotation, const CommonOptions &common, std::int64_t head_dim,
                           std::int64_t length)
    : length(length), head_dim(head_dim), is_interleaved(rotation.interleaved) {
    RotaryOptions options;
    options.rotation = rotation;
    for (Array *heads : {&units, &ones}) *heads = make_array("--length", GYRE_F32, {1, 1, length, head_dim});
    std::fill_n(ones.as<float>(), ones.size(), 1.0f);

    RotaryCall rotate_ones(options, "--head-dim", view(ones), view(ones));
    pairs = rotate_ones.args().rope.rotary_dim / 2;
    for (std::int64_t m = 0; m < length; m++) {
        for (std::int64_t i = 0; i < pairs; i++) units.as<float>()[m * head_dim + first(i)] = 1;
    }
    RotaryCall rotate_units(options, "--head-dim", view(units), view(units));
    const Context context(common);
    rotate_ones.run(context.get());
    rotate_units.run(context.get());
    kernel = context.kernel();
}

Array angles(const RotatedHeads &heads) {
    Array result = make_array("--length", GYRE_F64, {heads.length, heads.pairs});
    for (std::int64_t m = 0; m < heads.length; m++) {
        const float *head = heads.units.as<float>() + m * heads.head_dim;
        for (std::int64_t i = 0; i < heads.pairs; i++) {
            const double angle = std::atan2(double(head[heads.second(i)]), double(head[heads.first(i)]));
            result.as<double>()[m * heads.pairs + i] = angle < 0 ? angle + 2 * pi : angle;
        }
    }
    return result;
}

Array decay(const RotatedHeads &heads) {
    Array result = make_array("--length", GYRE_F64, {2, heads.length});
    double *dot_products = result.as<double>();
    double *partial_sums = dot_products + heads.length;
    const float *at_zero = heads.ones.as<float>();
    for (std::int64_t m = 0; m < heads.length; m++) {
        const float *head = heads.ones.as<float>() + m * heads.head_dim;
        for (std::int64_t d = 0; d < heads.head_dim; d++) dot_products[m] += double(at_zero[d]) * double(head[d]);

        const float *unit = heads.units.as<float>() + m * heads.head_dim;
        double cos_sum = 0;
        double sin_sum = 0;
        for (std::int64_t i = 0; i < heads.pairs; i++) {
            cos_sum += double(unit[heads.first(i)]);
            sin_sum += double(unit[heads.second(i)]);
            partial_sums[m] += std::hypot(cos_sum, sin_sum);
        }
    }
    for (double *row : {dot_products, partial_sums}) {
        const double scale = row[0];
        std::transform(row, row + heads.length, row, [scale](double value) { return value / scale; });
    }
    return result;
}

} // namespace gyre::cli
