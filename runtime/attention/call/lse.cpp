#include "attention/call/lse.h"

#include "core/error.h"

namespace gyre {

Heads Lse::as_heads(const Heads &beside) const {
    return {reinterpret_cast<char *>(data),
            GYRE_F32,
            beside.batch,
            beside.heads,
            1,
            beside.seqlen,
            batch_stride,
            head_stride,
            0};
}

gyre_status view_lse(const gyre_tensor &t, const char *name, gyre_layout layout, const Heads &beside, bool need_data,
                     Lse *lse) {
    const bool packed = layout == GYRE_THD;
    GYRE_TRY(check_tensor(t, name, {packed ? 2 : 3}, {GYRE_F32}, need_data));
    if (packed)
        GYRE_TRY(check_shape(t, name, {beside.heads, beside.seqlen}));
    else
        GYRE_TRY(check_shape(t, name, {beside.batch, beside.heads, beside.seqlen}));
    int64_t strides[GYRE_MAX_RANK];
    find_strides(t, strides);
    *lse = {static_cast<float *>(t.data), packed ? 0 : strides[0], strides[packed ? 0 : 1]};
    return GYRE_OK;
}

} // namespace gyre
