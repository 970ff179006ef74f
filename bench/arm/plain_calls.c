#include "case.h"
#include "plain_loops.h"

enum { tokens = 16, rotary_heads = 8, rotary_dim = 128, heads = 2, queries = 64, keys = 256 };

void plain_rotary(const Case *c) {
    const int64_t shape[4] = {1, tokens, rotary_heads, rotary_dim}, table[4] = {1, 1, tokens, rotary_dim / 2};
    plain_rotary_f32(random_tensor(c->dtype, shape).data, random_tensor(c->dtype, table).data,
                     random_tensor(c->dtype, table).data, random_tensor(c->dtype, shape).data, tokens, rotary_heads,
                     rotary_dim);
}

void plain_attention(const Case *c) {
    const int dim = c->head_dim;
    const int64_t q_shape[4] = {1, 1, queries, dim}, kv_shape[4] = {1, 1, keys, dim};
    float scores[keys];
    for (int h = 0; h < heads; h++) {
        void *q = random_tensor(c->dtype, q_shape).data, *out = random_tensor(c->dtype, q_shape).data;
        void *k = random_tensor(c->dtype, kv_shape).data, *v = random_tensor(c->dtype, kv_shape).data;
        if (c->dtype == GYRE_F16)
            (c->option ? plain_fast_attention_f16 : plain_attention_f16)(q, k, v, out, scores, queries, keys, dim,
                                                                         0.125f);
        else
            (c->option ? plain_fast_attention_f32 : plain_attention_f32)(q, k, v, out, scores, queries, keys, dim,
                                                                         0.125f);
    }
}
