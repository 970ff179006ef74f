/* Two tokens whose rows are one task: a value that only one of them sees, and that is not finite, changes no bit of the other's result. */
#include <gyre/embedded_kernels.h>

#include "demo.h"
#include "inputs.h"
#include "report.h"

enum { DIM = 64, TOKENS = 2, KEYS = 37, WINDOW = 20, FIRST_SEEN = KEYS - TOKENS - WINDOW + 1 };

static float q[TOKENS][DIM], k[KEYS][DIM], v[KEYS][DIM], out[TOKENS][DIM], expected[TOKENS][DIM];
static unsigned char workspace[GYRE_ATTENTION_F32_D64_WORKSPACE];

static int attend(float *to, int32_t window) {
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    args.kernel = &gyre_attention_f32_d64;
    args.q = q;
    args.k = k;
    args.v = v;
    args.out = to;
    args.tokens = TOKENS;
    args.keys = KEYS;
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

/** With infinity in a feature of value `key`: `sees`, the tokens that see it, bit by bit. */
static int try_value(const char *what, int32_t window, int32_t key, int sees) {
    const float infinity = 1e38f * 10, finite = v[key][7];
    int bad = attend(&expected[0][0], window);
    v[key][7] = infinity;
    bad |= attend(&out[0][0], window);
    v[key][7] = finite;
    for (int token = 0; token < TOKENS; token++) bad |= is_expected(token) == (sees >> token & 1);
    return report(what, !bad);
}

int try_unseen(void) {
    fill(&q[0][0], TENSOR_Q, 0, TOKENS * DIM);
    fill(&k[0][0], TENSOR_K, 0, KEYS * DIM);
    fill(&v[0][0], TENSOR_V, 0, KEYS * DIM);
    int failures = try_value("a value that the second token alone sees", 0, KEYS - 1, 2);
    failures += try_value("a value that both see", 0, KEYS - 2, 3);
    failures += try_value("a window's first value, of the first token alone", WINDOW, FIRST_SEEN, 1);
    failures += try_value("a window's last value, of the second token alone", WINDOW, KEYS - 1, 2);
    failures += try_value("a value before the window", WINDOW, FIRST_SEEN - 1, 0);
    return failures;
}
