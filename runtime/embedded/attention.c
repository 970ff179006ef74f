#include "attention_call.h"

size_t gyre_embedded_attention_workspace_size(const gyre_embedded_attention_kernel *kernel) {
    return kernel ? line + kernel->workspace : 0;
}

gyre_embedded_status gyre_embedded_attention(const gyre_embedded_attention_args *a) {
    const gyre_embedded_status status = status_of(gyre_embedded_check_attention(a));
    return status == GYRE_EMBEDDED_OK ? gyre_embedded_attention_unchecked(a) : status;
}

gyre_embedded_status gyre_embedded_attention_unchecked(const gyre_embedded_attention_args *a) {
    if (a->tokens == 0 || a->num_heads == 0) return GYRE_EMBEDDED_OK;
    attention_call call;
    gyre_embedded_begin_attention(&call, a);
    const int32_t group = a->num_heads / a->num_kv_heads;
    for (int32_t kv_head = 0; kv_head < a->num_kv_heads; kv_head++) {
        for (int32_t head = 0; head < group; head += call.most_heads) {
            const int32_t left = group - head;
            gyre_embedded_take_heads(&call, kv_head * group + head, left < call.most_heads ? left : call.most_heads,
                                     kv_head);
            const gyre_embedded_status status = gyre_embedded_attend(&call);
            if (status != GYRE_EMBEDDED_OK) return status;
        }
    }
    return GYRE_EMBEDDED_OK;
}
