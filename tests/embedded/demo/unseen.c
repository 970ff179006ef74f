/* Two tokens whose rows are one task: a value that only one of them sees, and that is not finite, changes no bit of the other's result. */
#include <gyre/embedded_kernels.h>

#include "demo.h"
#include "inputs.h"
#include "report.h"

enum { DIM = 64, TOKENS = 2, KEYS = 37, WINDOW = 20, FIRST_SEEN = KEYS - TOKENS - WINDOW + 1 };
enum { BLOCK = GYRE_ATTENTION_F32_D64_KEY_BLOCK, MOST_KEYS = BLOCK + WINDOW };

static float q[TOKENS][DIM], k[MOST_KEYS][DIM], v[MOST_KEYS][DIM], out[TOKENS][DIM], expected[TOKENS][DIM];
static unsigned char workspace[GYRE_ATTENTION_F32_D64_WORKSPACE];

static int attend(float *to, int32_t keys, int32_t window) {
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = &gyre_attention_f32_d64;
    args.q = q;
    args.k = k;
    args.v = v;
    args.out = to;
    args.tokens = TOKENS;
    args.keys = keys;
    args.num_heads = 1;
    args.num_kv_heads = 1;
    args.head_dim = DIM;
    args.causal = 1;
    args.window = window;
    args.workspace = workspace;
    args.workspace_size = sizeof workspace;
    return gyre_embedded_attention(&args);
}

/** Whether a token's result is what it was with finite values. */
static int is_expected(int token) {
    int same = 1;
    for (int d = 0; d < DIM; d++) same &= out[token][d] == expected[token][d];
    return same;
}

/** With infinity in a feature of value `key` of `keys`: `sees`, the tokens that see it, bit by bit. */
static int try_value_of(int32_t keys, const char *what, int32_t window, int32_t key, int sees) {
    const float infinity = 1e38f * 10, finite = v[key][7];
    int bad = attend(&expected[0][0], keys, window);
    v[key][7] = infinity;
    bad |= attend(&out[0][0], keys, window);
    v[key][7] = finite;
    for (int token = 0; token < TOKENS; token++) bad |= is_expected(token) == (sees >> token & 1);
    return report(what, !bad);
}

static int try_value(const char *what, int32_t window, int32_t key, int sees) {
    return try_value_of(KEYS, what, window, key, sees);
}

int try_unseen(void) {
    fill(&q[0][0], TENSOR_Q, 0, TOKENS * DIM);
    fill(&k[0][0], TENSOR_K, 0, MOST_KEYS * DIM);
    fill(&v[0][0], TENSOR_V, 0, MOST_KEYS * DIM);
    int failures = try_value("a value that the second token alone sees", 0, KEYS - 1, 2);
    failures += try_value("a value that both see", 0, KEYS - 2, 3);
    failures += try_value("a window's first value, of the first token alone", WINDOW, FIRST_SEEN, 1);
    failures += try_value("a window's last value, of the second token alone", WINDOW, KEYS - 1, 2);
    failures += try_value("a value before the window", WINDOW, FIRST_SEEN - 1, 0);
    failures += try_value_of(BLOCK + 1, "a block's only value, of the second token alone", 0, BLOCK, 2);
    failures += try_value_of(BLOCK + 1, "the last one of the block before, which both see", 0, BLOCK - 1, 3);
    failures += try_value_of(MOST_KEYS, "a window's first value, the last one of a block", WINDOW, BLOCK - 1, 1);
    failures += try_value_of(MOST_KEYS, "a window's value that begins a block", WINDOW, BLOCK, 3);
    failures += try_value_of(BLOCK + 1, "a window of one key, of the first token", 1, BLOCK - 1, 1);
    failures += try_value_of(BLOCK + 1, "a window of one key, of the second token", 1, BLOCK, 2);
    return failures;
}
