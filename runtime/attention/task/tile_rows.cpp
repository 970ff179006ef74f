#include "attention/task/tile_rows.h"

#include <algorithm>

namespace gyre {
namespace {

constexpr int64_t percent = 100;

/// Time of a product for each vector of rows, in percent of that in whole row tiles.
int64_t time_of_vector(const AttentionKernel &kernel, int64_t vectors) {
    if (vectors * kernel.tile_lanes == kernel.row_tile) return percent;
    return vectors == 1 ? 120 : 103;
}

} // namespace

int64_t rows_of_tile(const AttentionKernel &kernel, const TokensInSight &tokens) {
    constexpr int64_t least_gain = 5, keys_of_step = 8;
    const int64_t lanes = kernel.tile_lanes, most = kernel.row_tile / lanes;
    const int64_t rows = tokens.tokens * tokens.heads;
    const auto time_of = [&](int64_t vectors) {
        const int64_t moved =
            tokens.ends * (std::min(vectors * lanes, rows) / tokens.heads); // twice what is multiplied in vain
        return (2 * tokens.keys + moved + tokens.ends * keys_of_step) * time_of_vector(kernel, vectors);
    };
    int64_t best = most;
    for (int64_t vectors = most - 1; vectors > 0 && rows * most <= vectors * kernel.task_rows; vectors--)
        if (time_of(vectors) * percent < time_of(best) * (percent - least_gain)) best = vectors;
    return best * lanes;
}

} // namespace gyre
