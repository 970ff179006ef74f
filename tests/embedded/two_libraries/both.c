/* Kernels of two libraries in one program: two equal keys give the mean of their values. */
#include <plain_kernels.h>
#include <small_kernels.h>

#include "board.h"

enum { DIM = 16, KEYS = 2 };

static float q[DIM], k[KEYS][DIM], v[KEYS][DIM], out[DIM], k_scales[KEYS], v_scales[KEYS];
static int8_t k8[KEYS][DIM], v8[KEYS][DIM];
static unsigned char workspace[GYRE_ATTENTION_F32_D16_WORKSPACE + GYRE_ATTENTION_CAPPED_F32_I8_D16_WORKSPACE];

static int attend(const gyre_embedded_attention_kernel *kernel, float softcap) {
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    const int is_i8 = kernel->cache_dtype == GYRE_EMBEDDED_I8;
    args.kernel = kernel;
    args.tokens = 1;
    args.keys = KEYS;
    args.num_heads = 1;
    args.num_kv_heads = 1;
    args.head_dim = DIM;
    args.softcap = softcap;
    args.q = q;
    args.k = is_i8 ? (const void *)k8 : k;
    args.v = is_i8 ? (const void *)v8 : v;
    args.k_scales = is_i8 ? k_scales : NULL;
    args.v_scales = is_i8 ? v_scales : NULL;
    args.out = out;
    args.workspace = workspace;
    args.workspace_size = sizeof workspace;
    int bad = gyre_embedded_attention(&args);
    for (int i = 0; i < DIM; i++) bad |= !(out[i] > 1.99f && out[i] < 2.01f);
    return bad;
}

typedef union real {
    uint32_t bits;
    float value;
} real;

/** A part without visible keys counts for nothing; NaN stays NaN. */
static int merge(void) {
    const real minus_infinity = {0xff800000u}, not_a_number = {0x7fc00000u};
    static const float zeros[DIM];
    float whole[DIM], lse = 0.5f;
    real merged = {0}, first;
    for (int i = 0; i < DIM; i++) whole[i] = (float)i;
    const gyre_embedded_part parts[] = {{zeros, &minus_infinity.value}, {whole, &lse}};
    int bad = gyre_embedded_attention_merge(parts, 2, 1, 1, DIM, out, &merged.value);
    for (int i = 0; i < DIM; i++) bad |= out[i] != whole[i];
    bad |= merged.value != lse;
    bad |= gyre_embedded_attention_merge(parts, 1, 1, 1, DIM, out, &merged.value);
    bad |= merged.bits != minus_infinity.bits;
    lse = not_a_number.value;
    bad |= gyre_embedded_attention_merge(parts, 2, 1, 1, DIM, out, &merged.value);
    first.value = out[0];
    return bad || (first.bits & 0x7fffffffu) <= 0x7f800000u || (merged.bits & 0x7fffffffu) <= 0x7f800000u;
}

int demo(void) {
    for (int i = 0; i < DIM; i++) {
        q[i] = 0.5f;
        for (int j = 0; j < KEYS; j++) {
            k[j][i] = 0.25f;
            v[j][i] = 1 + 2 * (float)j;
        }
    }
    int bad = gyre_embedded_quantize(&k[0][0], KEYS, DIM, &k8[0][0], k_scales);
    bad |= gyre_embedded_quantize(&v[0][0], KEYS, DIM, &v8[0][0], v_scales);
    bad |= attend(&gyre_attention_f32_d16, 0);
    bad |= attend(&gyre_attention_f32_i8_d16, 0);
    bad |= attend(&gyre_attention_capped_f32_i8_d16, 1);
    bad |= merge();
    board_write(bad ? "two libraries: wrong\n" : "two libraries: ok\n");
    return bad;
}
