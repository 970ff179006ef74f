/// Where tokens stand: a caller's array, or consecutive numbers.
#pragma once
#include "gyre/gyre.h"

#include <cstdint>

namespace gyre {

/// Positions of [axes, batch, seqlen] tokens. Strides in elements.
struct Positions {
    bool given = false; // else: offset + token
    const void *data = nullptr;
    bool wide = false; // int64 instead of int32
    int64_t offset = 0;
    int64_t axis_stride = 0;
    int64_t batch_stride = 0;
    int64_t token_stride = 0;

    int64_t at(int axis, int64_t batch, int64_t token) const {
        if (!given) return offset + token;
        const int64_t i = axis * axis_stride + batch * batch_stride + token * token_stride;
        return wide ? static_cast<const int64_t *>(data)[i] : static_cast<const int32_t *>(data)[i];
    }
};

/// Checks shape and type of a caller's array: [batch, seqlen] or [seqlen], with axes > 1 preceded by [axes].
gyre_status view_positions(const gyre_tensor &tensor, const char *name, int axes, int64_t batch, int64_t seqlen,
                           bool need_data, Positions *positions);

/// Checks that 0 <= position < `limit` for `count` tokens of a batch entry, from `first` on.
gyre_status check_position_values(const Positions &positions, const char *name, int axes, int64_t batch, int64_t first,
                                  int64_t count, int64_t limit);

/// Checks shape, type and every value (0 <= position < `limit`) of a caller's array, which may be NULL: then offset +
/// 0, 1, 2 …. With `need_data` false values are not read.
gyre_status check_positions(const gyre_tensor *tensor, const char *name, int axes, int64_t batch, int64_t seqlen,
                            int64_t offset, int64_t limit, bool need_data, Positions *positions);

} // namespace gyre
