#include "relative_bias.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gyre::modules {

std::int32_t RelativeBias::bucket(std::int64_t key_minus_query) const {
    const std::int32_t count = causal ? buckets : buckets / 2;
    const std::int32_t exact = count / 2;
    const std::int64_t n = causal ? std::max<std::int64_t>(-key_minus_query, 0) : std::abs(key_minus_query);
    std::int32_t found = static_cast<std::int32_t>(std::min<std::int64_t>(n, exact));
    // A bucket begins at an integer: that it must not become the next one by rounding, 1e-9 is taken off.
    for (std::int32_t b = exact + 1; b < count; b++) {
        const double share = static_cast<double>(b - exact) / (count - exact);
        const double begin = exact * std::pow(static_cast<double>(max_distance) / exact, share);
        if (static_cast<double>(n) >= std::ceil(begin - 1e-9)) found = b;
    }
    return !causal && key_minus_query > 0 ? found + count : found;
}

void RelativeBias::fill(const float *table, std::int64_t rows, std::int64_t keys, std::vector<float> *bias) const {
    bias->resize(static_cast<std::size_t>(heads * rows * keys));
    std::vector<std::int32_t> of_distance(static_cast<std::size_t>(std::max<std::int64_t>(rows + keys, 1)));
    for (std::int64_t d = -rows; d < keys; d++) of_distance[static_cast<std::size_t>(rows + d)] = bucket(d);
    for (std::int64_t h = 0; h < heads; h++)
        for (std::int64_t i = 0; i < rows; i++)
            for (std::int64_t j = 0; j < keys; j++)
                (*bias)[static_cast<std::size_t>((h * rows + i) * keys + j)] =
                    table[of_distance[static_cast<std::size_t>(rows + j - i)] * heads + h];
}

void RelativeBias::add_gradient(const std::vector<float> &bias_grad, std::int64_t rows, std::int64_t keys,
                                float *table_grad) const {
    for (std::int64_t h = 0; h < heads; h++)
        for (std::int64_t d = 1 - rows; d < keys; d++) {
            double sum = 0;
            for (std::int64_t i = std::max<std::int64_t>(0, -d); i < std::min(rows, keys - d); i++)
                sum += bias_grad[static_cast<std::size_t>((h * rows + i) * keys + i + d)];
            table_grad[bucket(d) * heads + h] += static_cast<float>(sum);
        }
}

} // namespace gyre::modules
