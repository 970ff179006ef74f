#include "attention.h"

static size_t lse_bytes(const gyre_embedded_attention_kernel *k) {
    return ((size_t)k->task_rows * sizeof(float) + line - 1) / line * line;
}

size_t gyre_embedded_attention_workspace_size(const gyre_embedded_attention_kernel *kernel) {
    return kernel ? line + kernel->workspace + lse_bytes(kernel) : 0;
}

gyre_embedded_status gyre_embedded_attention(const gyre_embedded_attention_args *a) {
    gyre_embedded_status status = gyre_embedded_check_attention(a);
    if (status != GYRE_EMBEDDED_OK || a->tokens == 0 || a->num_heads == 0) return status;
    const int32_t group = a->num_heads / a->num_kv_heads, rows = a->kernel->task_rows;
    const int32_t heads = group < rows ? group : rows, tokens = heads == 1 ? rows : 1;
    for (int32_t first = 0; first < a->num_heads; first += group) {
        for (int32_t head = first; head < first + group; head += heads) {
            for (int32_t token = 0; token < a->tokens; token += tokens) {
                const int32_t heads_left = first + group - head, tokens_left = a->tokens - token;
                const attention_task t = {token, tokens < tokens_left ? tokens : tokens_left,
                                          head,  heads < heads_left ? heads : heads_left,
                                          0,     0};
                status = gyre_embedded_attention_task(a, t);
                if (status != GYRE_EMBEDDED_OK) return status;
            }
        }
    }
    return GYRE_EMBEDDED_OK;
}
