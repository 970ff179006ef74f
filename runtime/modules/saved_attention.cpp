#include "saved_attention.h"

#include <gyre/gyre.hpp>

#include <algorithm>
#include <cstdint>

namespace gyre::modules {

std::vector<float> attention_probabilities(gyre_context *context, const gyre_attention_args &call) {
    const std::int64_t batch = call.q.shape[0];
    const std::int64_t rows = call.q.shape[1];
    const std::int64_t heads = call.q.shape[2];
    const std::int64_t keys = call.k.shape[1];
    const std::int64_t width = call.q.shape[3];
    std::vector<float> probabilities(static_cast<std::size_t>(batch * heads * rows * keys));

    // The unit vector of key j, in a window of columns that begins at `first`, is row j of a matrix whose ones lie at row
    // first + column: the same rows further up or down for every window.
    std::vector<float> unit_rows(static_cast<std::size_t>((2 * keys + width) * width));
    for (std::int64_t x = 0; x < width; x++) unit_rows[static_cast<std::size_t>((keys + x) * width + x)] = 1;
    std::vector<float> window(static_cast<std::size_t>(batch * rows * heads * width));

    AttentionArgs args;
    static_cast<gyre_attention_args &>(args) = call;
    args.value_rope = nullptr;
    args.lse = nullptr;
    args.dropout = 0;
    args.out = view(window, {batch, rows, heads, width});
    for (std::int64_t first = 0; first < keys; first += width) {
        args.v = view(&unit_rows[static_cast<std::size_t>((keys - first) * width)], {batch, keys, heads, width},
                      {0, width, 0, 1});
        attention(context, args);
        const std::int64_t columns = std::min(width, keys - first);
        for (std::int64_t b = 0; b < batch; b++)
            for (std::int64_t h = 0; h < heads; h++)
                for (std::int64_t i = 0; i < rows; i++)
                    std::copy_n(&window[static_cast<std::size_t>(((b * rows + i) * heads + h) * width)], columns,
                                &probabilities[static_cast<std::size_t>(((b * heads + h) * rows + i) * keys + first)]);
    }
    return probabilities;
}

} // namespace gyre::modules
