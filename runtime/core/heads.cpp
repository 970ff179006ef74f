// The one view of sequences that operations work on.
#include "core/error.h"
#include "core/tensor.h"

#include <algorithm>

namespace gyre {

void find_strides(const gyre_tensor &t, int64_t (&strides)[GYRE_MAX_RANK]) {
    int64_t dense = 1;
    for (int i = t.rank - 1; i >= 0; i--) {
        strides[i] = t.shape[i] > 1 ? t.strides[i] : dense;
        dense *= std::max<int64_t>(t.shape[i], 1);
    }
}

gyre_status view_heads(const gyre_tensor &t, const char *name, gyre_layout layout,
                       std::initializer_list<gyre_dtype> dtypes, bool need_data, Heads *view) {
    GYRE_TRY(check_tensor(t, name, {layout == GYRE_THD ? 3 : 4}, dtypes, need_data));
    int batch = 0;
    int token = 1;
    int head = 2;
    if (layout == GYRE_BHSD) {
        token = 2;
        head = 1;
    }
    if (layout == GYRE_THD) {
        batch = -1;
        token = 0;
        head = 1;
    }
    int64_t strides[GYRE_MAX_RANK];
    find_strides(t, strides);
    *view = {static_cast<char *>(t.data),
             t.dtype,
             batch < 0 ? 1 : t.shape[batch],
             t.shape[token],
             t.shape[head],
             t.shape[t.rank - 1],
             batch < 0 ? 0 : strides[batch],
             strides[token],
             strides[head]};
    return GYRE_OK;
}

} // namespace gyre
