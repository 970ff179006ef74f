/// What the launches of linear attention hand to each other: arrays of f32 in the workspace.
#pragma once
#include "cuda/rows/features.h"
#include "linear/call.h"

namespace gyre::cuda {

/// An array of a tensor's extents, whatever the order of its dimensions.
struct LinearArray : FeatureRows {
    int64_t floats = 0; // 0: it is not there
};

/// For as many batch entries as are computed at once.
struct LinearMemory {
    static constexpr int64_t chunk = 64; // tokens that kernels take at once, and may read beyond the last

    int64_t entries = 0, slots = 0, row_tiles = 0, value_stride = 0;
    LinearArray k_rows, k_rows_rotated; // features together
    LinearArray k, k_rotated;           // tokens together
    LinearArray q, q_rotated, q_rows;   // q_rows: to rotate
    LinearArray v;
    LinearArray kv_chunks, kv_before; // (e, d, slot, h, z): feature_stride is d's, token_stride a slot's
    LinearArray k_chunks, k_before;   // (d, slot, h, z)

    /// False if kernels cannot count the elements of so many entries.
    bool prepare(const LinearCall &call, bool packed, int64_t count);
    size_t bytes() const;
    void place(char *memory);

private:
    template <typename Memory, typename Use>
    static void each(Memory &m, const Use &use) {
        for (auto *a : {&m.k_rows, &m.k_rows_rotated, &m.k, &m.k_rotated, &m.q, &m.q_rotated, &m.q_rows, &m.v,
                        &m.kv_chunks, &m.kv_before, &m.k_chunks, &m.k_before})
            use(*a);
    }
};

} // namespace gyre::cuda
