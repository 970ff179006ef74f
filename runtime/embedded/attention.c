#include "attention_call.h"

size_t gyre_embedded_attention_workspace_size(const gyre_embedded_attention_kernel *kernel) {
    return kernel ? line + kernel->workspace : 0;
}

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

gyre_embedded_status gyre_embedded_attention(const gyre_embedded_attention_args *a) {
    const gyre_embedded_status status = status_of(gyre_embedded_check_attention(a));
    return status == GYRE_EMBEDDED_OK ? gyre_embedded_attention_unchecked(a) : status;
}

gyre_embedded_status gyre_embedded_attention_unchecked(const gyre_embedded_attention_args *a) {
    if (a->tokens == 0 || a->num_heads == 0) return GYRE_EMBEDDED_OK;
    attention_call call;
    gyre_embedded_begin_attention(&call, a);
    const int32_t group = a->num_heads / a->num_kv_heads, most = call.most_tokens;
    for (int32_t kv_head = 0; kv_head < a->num_kv_heads; kv_head++) {
        for (int32_t head = 0; head < group; head += call.most_heads) {
            const int32_t heads = smaller(call.most_heads, group - head);
            gyre_embedded_take_heads(&call, kv_head * group + head, heads, kv_head);
            for (int32_t token = 0; token < a->tokens; token += most) {
                const gyre_embedded_status status =
                    gyre_embedded_attention_task(&call, token, smaller(most, a->tokens - token));
                if (status != GYRE_EMBEDDED_OK) return status;
            }
        }
    }
    return GYRE_EMBEDDED_OK;
}
