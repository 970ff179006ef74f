#include "rotary/positions.h"

#include "core/error.h"
#include "core/tensor.h"

#include <algorithm>

namespace gyre {

gyre_status view_positions(const gyre_tensor &tensor, const char *name, int axes, int64_t batch, int64_t seqlen,
                           bool need_data, Positions *positions) {
    const int lead = axes > 1 ? 1 : 0;
    GYRE_TRY(check_tensor(tensor, name, {1 + lead, 2 + lead}, {GYRE_I32, GYRE_I64}, need_data, any_strides));
    const bool per_batch = tensor.rank == 2 + lead;
    if (lead && per_batch) GYRE_TRY(check_shape(tensor, name, {axes, batch, seqlen}));
    if (lead && !per_batch) GYRE_TRY(check_shape(tensor, name, {axes, seqlen}));
    if (!lead && per_batch) GYRE_TRY(check_shape(tensor, name, {batch, seqlen}));
    if (!lead && !per_batch) GYRE_TRY(check_shape(tensor, name, {seqlen}));
    *positions = {};
    positions->given = true;
    positions->data = tensor.data;
    positions->wide = tensor.dtype == GYRE_I64;
    positions->axis_stride = lead ? tensor.strides[0] : 0;
    positions->batch_stride = per_batch ? tensor.strides[lead] : 0;
    positions->token_stride = tensor.strides[tensor.rank - 1];
    return GYRE_OK;
}

gyre_status check_position_values(const Positions &p, const char *name, int axes, int64_t batch, int64_t first,
                                  int64_t count, int64_t limit) {
    for (int axis = 0; axis < axes; axis++)
        for (int64_t t = first; t < first + count; t++)
            if (const int64_t m = p.at(axis, batch, t); m < 0 || m >= limit)
                return refuse(GYRE_BAD_ARGUMENT, name,
                              "got %lld at token %lld of batch entry %lld, expected 0 <= position < %lld",
                              static_cast<long long>(m), static_cast<long long>(t), static_cast<long long>(batch),
                              static_cast<long long>(limit));
    return GYRE_OK;
}

gyre_status check_positions(const gyre_tensor *tensor, const char *name, int axes, int64_t batch, int64_t seqlen,
                            int64_t offset, int64_t limit, bool need_data, Positions *positions) {
    *positions = {};
    if (!tensor) {
        positions->offset = offset;
        if (seqlen > 0 && offset > limit - seqlen)
            return refuse(GYRE_BAD_ARGUMENT, name, "got %lld for %lld tokens, expected 0 <= position < %lld",
                          static_cast<long long>(offset), static_cast<long long>(seqlen),
                          static_cast<long long>(limit));
        return GYRE_OK;
    }
    GYRE_TRY(view_positions(*tensor, name, axes, batch, seqlen, need_data, positions));
    if (!need_data || !tensor->data || seqlen == 0) return GYRE_OK;
    const int64_t distinct = positions->batch_stride ? batch : std::min<int64_t>(batch, 1);
    for (int64_t b = 0; b < distinct; b++) GYRE_TRY(check_position_values(*positions, name, axes, b, 0, seqlen, limit));
    return GYRE_OK;
}

} // namespace gyre
