/* Results do not depend on where tensors are, nor on what results and workspace held before: tensors that are aligned to their elements
 * alone, of each type of cache, with an odd address of the workspace and NaN everywhere, give the bits of aligned ones. Nor on how many
 * tokens a call has: with a kernel for single rows, the last token alone has the bits that it has among others. */
#include <gyre/embedded_kernels.h>

#include "demo.h"
#include "inputs.h"
#include "report.h"

enum {
    DIM = 64,
    PAIRS = DIM / 2,
    HEADS = 3,
    TOKENS = 2,
    KEYS = 37,
    Q_SIZE = TOKENS * HEADS * DIM,
    K_SIZE = KEYS * DIM
};
enum {
    LINE = 64,
    /* As many as any of them needs, and more. */
    WORKSPACE = GYRE_ATTENTION_F32_D64_WORKSPACE + GYRE_ATTENTION_F16_D64_WORKSPACE +
                GYRE_ATTENTION_F32_F16_D64_WORKSPACE + GYRE_ATTENTION_CAPPED_F32_I8_D64_WORKSPACE
};

/** A tensor of any type, and where it begins in its memory. */
typedef union memory {
    unsigned char bytes[4 * K_SIZE + LINE];
    uint64_t aligned;
} memory;

static memory q, k, v, out, k_scales, v_scales, lse, angles, expected, expected_lse;
static unsigned char workspace[WORKSPACE + 1];
static float rows[K_SIZE];

static void copy(void *to, const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}

static int differ(const void *a, const void *b, size_t bytes) {
    int different = 0;
    for (size_t i = 0; i < bytes; i++) different |= ((const unsigned char *)a)[i] != ((const unsigned char *)b)[i];
    return different;
}

static size_t bytes_of(gyre_embedded_dtype dtype) {
    return dtype == GYRE_EMBEDDED_I8 ? 1 : dtype == GYRE_EMBEDDED_F16 ? 2 : 4;
}

/** Writes rows of a tensor in a type; scales are those of int8. */
static int fill_as(gyre_embedded_dtype dtype, uint32_t tensor, int32_t count, void *to, float *scales) {
    fill(rows, tensor, 0, (uint32_t)(count * DIM));
    if (dtype == GYRE_EMBEDDED_I8) return gyre_embedded_quantize(rows, count, DIM, to, scales);
    gyre_embedded_rotary_args args = gyre_embedded_rotary_defaults();
    args.kernel = dtype == GYRE_EMBEDDED_F16 ? &gyre_rotary_f32_f16_half : &gyre_rotary_f32_half;
    args.tokens = count;
    args.heads = 1;
    args.head_dim = DIM;
    args.x = rows;
    args.out = to;
    return gyre_embedded_rotary(&args);
}

typedef struct kernels {
    const gyre_embedded_attention_kernel *of_rows, *of_row;
} kernels;

/** Attends with tensors one element, and the workspace one byte, behind the beginning of their memory if `odd`, else at it; without the
 *  first `skipped` tokens. */
static int attend(const kernels *made, int32_t heads, int32_t skipped, int odd, unsigned char before) {
    const gyre_embedded_attention_kernel *kernel = made->of_rows;
    const size_t element = odd ? bytes_of(kernel->dtype) : 0, stored = odd ? bytes_of(kernel->cache_dtype) : 0;
    const size_t real = odd ? sizeof(float) : 0;
    gyre_embedded_attention_args args = gyre_embedded_attention_defaults();
    float *const scales[] = {(float *)(void *)(k_scales.bytes + real), (float *)(void *)(v_scales.bytes + real)};
    int bad = fill_as(kernel->dtype, TENSOR_Q, TOKENS * HEADS, q.bytes + element, NULL);
    bad |= fill_as(kernel->cache_dtype, TENSOR_K, KEYS, k.bytes + stored, scales[0]);
    bad |= fill_as(kernel->cache_dtype, TENSOR_V, KEYS, v.bytes + stored, scales[1]);
    fill(rows, TENSOR_X, 0, TOKENS * 2 * PAIRS);
    copy(angles.bytes + real, rows, TOKENS * 2 * PAIRS * sizeof(float));
    for (size_t i = 0; i < sizeof out.bytes; i++) out.bytes[i] = lse.bytes[i] = before;
    for (size_t i = 0; i < sizeof workspace; i++) workspace[i] = before;
    args.kernel = kernel;
    args.row_kernel = heads == 1 ? made->of_row : NULL;
    args.tokens = TOKENS - skipped;
    args.keys = KEYS;
    args.num_heads = heads;
    args.num_kv_heads = 1;
    args.head_dim = DIM;
    args.causal = 1;
    args.rotary_dim = DIM;
    args.rotary_v_dim = DIM / 2;
    args.q = q.bytes + element + (size_t)(skipped * heads * DIM) * bytes_of(kernel->dtype);
    args.k = k.bytes + stored;
    args.v = v.bytes + stored;
    args.k_scales = kernel->cache_dtype == GYRE_EMBEDDED_I8 ? scales[0] : NULL;
    args.v_scales = kernel->cache_dtype == GYRE_EMBEDDED_I8 ? scales[1] : NULL;
    args.out = out.bytes + element;
    args.lse = (float *)(void *)(lse.bytes + real);
    const float *const of_tokens = (const float *)(const void *)(angles.bytes + real);
    args.q_angles = of_tokens + skipped * args.rotary_dim;
    args.out_angles = of_tokens + skipped * args.rotary_v_dim;
    args.workspace = workspace + odd;
    args.workspace_size = WORKSPACE;
    return bad | gyre_embedded_attention(&args);
}

/** The last token of a head that does not share, with a kernel for single rows. */
static int try_alone(const kernels *made) {
    const size_t row = DIM * bytes_of(made->of_rows->dtype);
    int bad = attend(made, 1, 0, 0, 0);
    copy(expected.bytes, out.bytes + (TOKENS - 1) * row, row);
    bad |= attend(made, 1, TOKENS - 1, 0, 0);
    return report("  its last token alone", !(bad | differ(out.bytes, expected.bytes, row)));
}

static int try_kernels(const gyre_embedded_attention_kernel *kernel, const gyre_embedded_attention_kernel *row_kernel,
                       const char *name) {
    const kernels made = {kernel, row_kernel};
    const size_t bytes = Q_SIZE * bytes_of(kernel->dtype), lse_bytes = TOKENS * HEADS * sizeof(float);
    int bad = attend(&made, HEADS, 0, 0, 0);
    copy(expected.bytes, out.bytes, bytes);
    copy(expected_lse.bytes, lse.bytes, lse_bytes);
    bad |= attend(&made, HEADS, 0, 1, 0xff);
    bad |= differ(out.bytes + bytes_of(kernel->dtype), expected.bytes, bytes);
    bad |= differ(lse.bytes + sizeof(float), expected_lse.bytes, lse_bytes);
    return report(name, !bad) + try_alone(&made);
}

int try_places(void) {
    int failures = try_kernels(&gyre_attention_f32_d64, &gyre_attention_row_f32_d64, "tensors anywhere, f32");
    failures += try_kernels(&gyre_attention_f16_d64, &gyre_attention_row_f16_d64, "tensors anywhere, f16");
    failures += try_kernels(&gyre_attention_f32_f16_d64, &gyre_attention_row_f32_f16_d64,
                            "tensors anywhere, f32 on a cache of f16");
    failures +=
        try_kernels(&gyre_attention_capped_f32_i8_d64, &gyre_attention_row_capped_f32_i8_d64, "tensors anywhere, int8");
#ifdef GYRE_ATTENTION_F32_I8_INTEGER_D64_WORKSPACE
    failures += try_kernels(&gyre_attention_f32_i8_integer_d64, &gyre_attention_row_f32_i8_integer_d64,
                            "tensors anywhere, int8, scores by integers");
#endif
    return failures;
}
