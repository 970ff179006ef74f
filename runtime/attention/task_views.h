/// What kernels of attention are called with: angles, and rows of keys and values, of a part of a call.
#pragma once
#include "attention/angle_table.h"
#include "kernel_call.h"

namespace gyre {

/// Pairs as the kernels take them: two counts, one of them 0.
struct RotatedPairs {
    int32_t half = 0, interleaved = 0;

    RotatedPairs(bool on, const Rotation &r) {
        if (on) (r.pairing == GYRE_HALF ? half : interleaved) = r.pairs;
    }
};

/// Cosine and sine buffers of some tokens; one element where the rotation is off.
struct AngleViews {
    Buffer cos, sin;

    AngleViews(const AngleTable *table, const Sequence &s, int64_t index, int64_t first, int64_t tokens);

private:
    AngleViews(const float *rows, int64_t pairs, int64_t stride, int64_t tokens);
};

/// The pages that hold some keys of a sequence.
struct PageViews {
    Buffer table;
    int32_t bits = 30, first_slot = 0; // of the first page: where the first key is

    PageViews(const AttentionCall &c, int64_t index, int64_t first_key, int64_t keys);
};

/// Some keys or values of a sequence, as rows that begin at page * page_stride + slot * slot_stride.
struct KeyRows {
    Buffer elements;
    int32_t slot_stride, page_stride = 0;

    /// `t` is the call's k or v, `token` of the batch entry the first of `keys`. In pages, these of the call's whole pool.
    KeyRows(const AttentionCall &c, const Heads &t, halide_type_t type, int64_t pool_page_stride, const Sequence &s,
            int64_t token, int64_t head, int64_t keys);
    /// Dense rows of `dim` elements that begin `stride` elements apart.
    KeyRows(const char *data, halide_type_t type, int64_t dim, int64_t stride, int64_t slots);
};

} // namespace gyre
