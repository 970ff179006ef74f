/* Decodes token by token with a paged cache of rotated keys and values, and compares with one call over all tokens. */
#include <gyre/gyre.h>

#include <stdio.h>
#include <stdlib.h>

enum { tokens = 40, heads = 4, kv_heads = 2, dim = 64, page_size = 16, pages = 4, max_pages = 3 };

static float q[tokens][heads][dim], k[tokens][kv_heads][dim], v[tokens][kv_heads][dim];
static float at_once[tokens][heads][dim], stepwise[tokens][heads][dim];
static float k_pool[pages][page_size][kv_heads][dim], v_pool[pages][page_size][kv_heads][dim];

static void fill(float *x, int count) {
    for (int i = 0; i < count; i++) x[i] = (float)rand() / (float)RAND_MAX - 0.5f;
}

static gyre_tensor tensor(void *data, int64_t first, int64_t second, int64_t third) {
    const int64_t shape[4] = {first, second, third, dim};
    return gyre_tensor_dense(data, GYRE_F32, 4, shape);
}

static int fail(void) {
    fprintf(stderr, "%s\n", gyre_last_error());
    return 1;
}

int main(void) {
    gyre_rope rope = gyre_rope_defaults();
    fill(&q[0][0][0], tokens * heads * dim);
    fill(&k[0][0][0], tokens * kv_heads * dim);
    fill(&v[0][0][0], tokens * kv_heads * dim);

    gyre_attention_args whole = gyre_attention_defaults();
    whole.q = tensor(q, 1, tokens, heads);
    whole.k = tensor(k, 1, tokens, kv_heads);
    whole.v = tensor(v, 1, tokens, kv_heads);
    whole.out = tensor(at_once, 1, tokens, heads);
    whole.causal = 1;
    whole.rope = &rope;
    whole.value_rope = &rope;
    if (gyre_attention(NULL, &whole) != GYRE_OK) return fail();

    int32_t table[max_pages] = {2, 0, 3}; /* pages of the pool, in the order of the sequence */
    int32_t held = 0;                     /* keys in the cache */
    const int64_t table_shape[2] = {1, max_pages}, batch[1] = {1};
    const gyre_tensor page_table = gyre_tensor_dense(table, GYRE_I32, 2, table_shape);
    const gyre_tensor count = gyre_tensor_dense(&held, GYRE_I32, 1, batch);
    for (int token = 0; token < tokens; token++) {
        gyre_cache_append_args append = gyre_cache_append_defaults();
        append.k = tensor(k[token], 1, 1, kv_heads);
        append.v = tensor(v[token], 1, 1, kv_heads);
        append.k_cache = tensor(k_pool, pages, page_size, kv_heads);
        append.v_cache = tensor(v_pool, pages, page_size, kv_heads);
        append.page_table = &page_table;
        append.cache_seqlens = &count;
        append.rope = &rope;
        append.value_rope = &rope;
        if (gyre_cache_append(NULL, &append) != GYRE_OK) return fail();
        held++;

        const int64_t position = token, one[1] = {1};
        const gyre_tensor positions = gyre_tensor_dense((void *)&position, GYRE_I64, 1, one);
        gyre_attention_args step = gyre_attention_defaults();
        step.q = tensor(q[token], 1, 1, heads);
        step.k = append.k_cache;
        step.v = append.v_cache;
        step.out = tensor(stepwise[token], 1, 1, heads);
        step.page_table = &page_table;
        step.seqused_k = &count;
        step.rope = &rope;
        step.value_rope = &rope;
        step.keys_rotated = 1;
        step.values_rotated = 1;
        step.q_positions = &positions;
        if (gyre_attention(NULL, &step) != GYRE_OK) return fail();
    }
    float worst = 0;
    for (int i = 0; i < tokens * heads * dim; i++) {
        const float difference = (&at_once[0][0][0])[i] - (&stepwise[0][0][0])[i];
        const float error = difference < 0 ? -difference : difference;
        if (!(error <= worst)) worst = error;
    }
    printf("%d tokens, one by one and at once, differ by at most %g\n", tokens, worst);
    return !(worst < 1e-5f);
}
