/* Makes one call of an operation, so that an emulator can count what it takes:
 *     one_call <case>     one_call: the names of all cases */
#include "case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gyre_context *context;

static void finish(gyre_status status, const char *name) {
    if (status == GYRE_OK) return;
    fprintf(stderr, "one_call: %s: %s\n", name, gyre_last_error());
    exit(strcmp(name, "context") == 0 && status == GYRE_UNSUPPORTED ? 77 : 1); /* 77: the target cannot run here */
}

/* The shapes of the probes whose figures README.md compares with. */
static void rotary(const Case *c) {
    const int64_t shape[4] = {1, 16, 8, 128};
    gyre_rotary_args args = gyre_rotary_defaults();
    args.x = random_tensor(c->dtype, shape);
    args.out = random_tensor(c->dtype, shape);
    args.rope.pairing = c->option ? GYRE_INTERLEAVED : GYRE_HALF;
    finish(gyre_rotary(context, &args), c->name);
}

static void append(const Case *c) {
    const int64_t shape[4] = {1, 16, 8, 128};
    const gyre_rope rope = gyre_rope_defaults();
    gyre_cache_append_args args = gyre_cache_append_defaults();
    args.k = random_tensor(GYRE_F32, shape);
    args.v = random_tensor(GYRE_F32, shape);
    args.k_cache = random_tensor(c->dtype, shape);
    args.v_cache = random_tensor(c->dtype, shape);
    args.rope = &rope;
    finish(gyre_cache_append(context, &args), c->name);
}

static gyre_attention_args attention_args(const Case *c, int64_t queries, int64_t heads, int64_t keys,
                                          int64_t kv_heads) {
    const int64_t q_shape[4] = {1, heads, queries, c->head_dim}, kv_shape[4] = {1, kv_heads, keys, c->head_dim};
    gyre_attention_args args = gyre_attention_defaults();
    args.layout = GYRE_BHSD;
    args.q = random_tensor(c->dtype, q_shape);
    args.out = random_tensor(c->dtype, q_shape);
    args.k = random_tensor(c->dtype, kv_shape);
    args.v = random_tensor(c->dtype, kv_shape);
    return args;
}

static void attention(const Case *c) {
    const gyre_attention_args args = attention_args(c, 64, 2, 256, 2);
    finish(gyre_attention(context, &args), c->name);
}

static void roper(const Case *c) {
    const gyre_rope rope = gyre_rope_defaults();
    gyre_attention_args args = attention_args(c, 64, 2, 256, 2);
    args.causal = 1;
    args.rope = args.value_rope = &rope;
    finish(gyre_attention(context, &args), c->name);
}

static void bias(const Case *c) {
    const int64_t shape[4] = {1, 1, 64, 256};
    const gyre_tensor all = random_tensor(c->dtype, shape);
    gyre_attention_args args = attention_args(c, 64, 2, 256, 2);
    args.bias = &all;
    finish(gyre_attention(context, &args), c->name);
}

/* One query: keys are cut into two parts, whose results are merged. */
static void decode(const Case *c) {
    const gyre_rope rope = gyre_rope_defaults();
    gyre_attention_args args = attention_args(c, 1, 8, 2048, 2);
    if (c->option) args.rope = &rope; /* else keys are read where they are, if they are f32 */
    finish(gyre_attention(context, &args), c->name);
}

static const struct {
    Case c;
    void (*run)(const Case *);
} cases[] = {
    {{"rotary_f32_half", GYRE_F32, 0, 0}, rotary},
    {{"rotary_f32_interleaved", GYRE_F32, 1, 0}, rotary},
    {{"rotary_f16_half", GYRE_F16, 0, 0}, rotary},
    {{"rotary_f16_interleaved", GYRE_F16, 1, 0}, rotary},
    {{"rotary_bf16_half", GYRE_BF16, 0, 0}, rotary},
    {{"rotary_bf16_interleaved", GYRE_BF16, 1, 0}, rotary},
    {{"append_f16", GYRE_F16, 0, 0}, append},
    {{"append_bf16", GYRE_BF16, 0, 0}, append},
    {{"attention_f32_d64", GYRE_F32, 0, 64}, attention},
    {{"attention_f16_d64", GYRE_F16, 0, 64}, attention},
    {{"attention_bf16_d64", GYRE_BF16, 0, 64}, attention},
    {{"attention_f32_d60", GYRE_F32, 0, 60}, attention},
    {{"roper_f32_d64", GYRE_F32, 0, 64}, roper},
    {{"roper_f16_d64", GYRE_F16, 0, 64}, roper},
    {{"roper_bf16_d64", GYRE_BF16, 0, 64}, roper},
    {{"bias_f32_d64", GYRE_F32, 0, 64}, bias},
    {{"bias_f16_d64", GYRE_F16, 0, 64}, bias},
    {{"decode_f32_d64", GYRE_F32, 0, 64}, decode},
    {{"decode_f16_d64", GYRE_F16, 0, 64}, decode},
    {{"decode_bf16_d64", GYRE_BF16, 0, 64}, decode},
    {{"decode_rope_f32_d64", GYRE_F32, 1, 64}, decode},
    {{"plain_rotary_f32_half", GYRE_F32, 0, 0}, plain_rotary},
    {{"plain_attention_f32_d64", GYRE_F32, 0, 64}, plain_attention},
    {{"plain_attention_f16_d64", GYRE_F16, 0, 64}, plain_attention},
    {{"plain_fast_attention_f32_d64", GYRE_F32, 1, 64}, plain_attention},
    {{"plain_fast_attention_f16_d64", GYRE_F16, 1, 64}, plain_attention},
};

int main(int argc, char **argv) {
    const size_t count = sizeof cases / sizeof *cases;
    gyre_context_options options = gyre_context_defaults();
    options.threads = 1;
    finish(gyre_context_create(&options, &context), "context");
    for (size_t i = 0; i < count; i++)
        if (argc < 2)
            puts(cases[i].c.name);
        else if (strcmp(argv[1], cases[i].c.name) == 0)
            return cases[i].run(&cases[i].c), gyre_context_destroy(context), 0;
    return argc < 2 ? 0 : 2;
}
