/**
 * Gyre: rotary embeddings (RoPE), reverse-rotary attention (RoPER) and fused attention, from kernels that Halide
 * generated ahead of time. The whole public interface, in C99.
 *
 *     float q[1 * 128 * 8 * 64], k[...], v[...], out[...];
 *     const int64_t shape[4] = {1, 128, 8, 64};                         // bshd: [batch, seqlen, heads, head_dim]
 *     gyre_rope rope = gyre_rope_defaults();                            // theta 10000, half pairing, the whole head
 *     gyre_attention_args args = gyre_attention_defaults();
 *     args.q = gyre_tensor_dense(q, GYRE_F32, 4, shape);                // likewise k, v and out
 *     args.causal = 1;
 *     args.rope = &rope;                                                // rotate queries and keys
 *     args.value_rope = &rope;                                          // and values, undone on the output: RoPER
 *     if (gyre_attention(NULL, &args) != GYRE_OK) puts(gyre_last_error());
 *
 * Every function that can fail returns a gyre_status; gyre_last_error() then names the argument, what it was and what
 * was expected. Nothing is written to an output when arguments are refused. The library never prints, aborts or throws.
 * Argument structures begin with their size: fill them through the *_defaults() functions and they can grow.
 */
#ifndef GYRE_GYRE_H
#define GYRE_GYRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define GYRE_API
#else
#define GYRE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GYRE_VERSION_MAJOR 0
#define GYRE_VERSION_MINOR 1
#define GYRE_VERSION_PATCH 0

/* ------------------------------------------------------------------------------------------------ status */

typedef enum gyre_status {
    GYRE_OK = 0,
    GYRE_BAD_ARGUMENT = 1,        /* a null pointer, a value out of range, a contradiction */
    GYRE_BAD_SHAPE = 2,           /* a rank, an extent or a stride */
    GYRE_BAD_TYPE = 3,            /* an element type not accepted here, or two that must agree and do not */
    GYRE_UNSUPPORTED = 4,         /* valid, but no linked kernel that this machine can run does it */
    GYRE_WORKSPACE_TOO_SMALL = 5, /* the caller's buffer is smaller than gyre_*_workspace_size() says */
    GYRE_OUT_OF_MEMORY = 6,
    GYRE_INTERNAL = 7 /* a kernel reported a failure: a defect of the library */
} gyre_status;

/** The name of a status, such as "bad shape"; never NULL. */
GYRE_API const char *gyre_status_string(gyre_status status);

/** What the last failing call on this thread found wrong, in one line; "" if none failed. Valid until the next one. */
GYRE_API const char *gyre_last_error(void);

/** "major.minor.patch" of the library that is linked. */
GYRE_API const char *gyre_version(void);

/* ------------------------------------------------------------------------------------------------ tensors */

typedef enum gyre_dtype {
    GYRE_F32 = 0,
    GYRE_F16 = 1,
    GYRE_BF16 = 2,
    GYRE_F64 = 3,
    GYRE_I32 = 4,
    GYRE_I64 = 5,
    GYRE_BOOL = 6 /* one byte, 0 or not 0 */
} gyre_dtype;

/** DLPack's device codes. */
typedef enum gyre_device { GYRE_CPU = 1, GYRE_CUDA = 2 } gyre_device;

#define GYRE_MAX_RANK 4

/** A view of somebody's memory. Shapes are outermost first; strides count elements, may be anything that stays inside
 *  the owner's memory (0 repeats), and the last one must be 1 wherever a function says "contiguous". */
typedef struct gyre_tensor {
    void *data;
    gyre_dtype dtype;
    gyre_device device;
    int32_t rank;
    int64_t shape[GYRE_MAX_RANK];
    int64_t strides[GYRE_MAX_RANK];
} gyre_tensor;

/** A view of densely packed CPU memory in C order. rank: 1..GYRE_MAX_RANK. */
static inline gyre_tensor gyre_tensor_dense(const void *data, gyre_dtype dtype, int32_t rank, const int64_t *shape) {
    gyre_tensor t;
    int64_t stride = 1;
    int32_t i;
    memset(&t, 0, sizeof t);
    memcpy(&t.data, &data, sizeof data);
    t.dtype = dtype;
    t.device = GYRE_CPU;
    t.rank = rank;
    for (i = rank - 1; i >= 0 && i < GYRE_MAX_RANK; i--) {
        t.shape[i] = shape[i];
        t.strides[i] = stride;
        stride *= shape[i];
    }
    return t;
}

struct DLTensor;
/** Views a DLPack tensor (rank 1..4, CPU or CUDA, one lane) without copying; missing strides mean C order.
 *  Errors: BAD_ARGUMENT (null), BAD_SHAPE (rank), BAD_TYPE (element type), UNSUPPORTED (device). */
GYRE_API gyre_status gyre_tensor_from_dlpack(const struct DLTensor *dl_tensor, gyre_tensor *out);

/** How the dimensions of q, k, v, x and out are read. */
typedef enum gyre_layout {
    GYRE_BSHD = 0, /* [batch, seqlen, heads, head_dim] */
    GYRE_BHSD = 1, /* [batch, heads, seqlen, head_dim] */
    GYRE_THD = 2   /* [tokens of all sequences, heads, head_dim] */
} gyre_layout;

/** How a cache keeps values.   In blocks, for decoding on processors with matrix tiles, where nothing is then rearranged:
 *  every GYRE_VALUE_BLOCK tokens of a head are [v_head_dim][GYRE_VALUE_BLOCK] in place of as many rows of v_head_dim:
 *
 *      in rows                              in blocks
 *      v[t=0]   d=0 1 2 … v_head_dim - 1    d=0               t=0 1 2 … 31
 *      v[t=1]   d=0 1 2 …                   d=1               t=0 1 2 … 31
 *      …                                    …
 *      v[t=31]  d=0 1 2 …                   d=v_head_dim - 1  t=0 1 2 … 31
 *
 *  The tensor has shape and strides as if it held rows, without gaps: from token to token v_head_dim. Capacity or page size
 *  is a multiple of GYRE_VALUE_BLOCK. Slots after the last key may hold anything. bf16 only. Keys are rows in any case. */
typedef enum gyre_value_order { GYRE_VALUES_IN_ROWS = 0, GYRE_VALUES_IN_BLOCKS = 1 } gyre_value_order;
#define GYRE_VALUE_BLOCK 32

/* ------------------------------------------------------------------------------------------------ context */

/** Threads, target and scratch memory that calls share. NULL is accepted wherever a context is: a default one of the
 *  process, all cores, the best target. Calls that share a context run one after the other; else use one a thread. */
typedef struct gyre_context gyre_context;

/** The host's thread pool: runs task(state, 0) … task(state, count - 1), in any order, possibly at once, and returns
 *  when all are done. count is at most the context's number of threads. */
typedef void (*gyre_parallel_for)(void *pool, int32_t count, void (*task)(void *state, int32_t index), void *state);

typedef struct gyre_context_options {
    uint32_t size;
    int32_t threads;                /* 0: as many as this process may run on */
    const char *target;             /* NULL: environment variable GYRE_TARGET, else the best that can run here. Where a
                                       target has kernels of its own for some calls only, as x86_64_amx, those of the
                                       next one it is made to go with serve for the others */
    gyre_parallel_for parallel_for; /* NULL: own threads, started by the first call that needs them */
    void *pool;                     /* handed to parallel_for */
    const char *library; /* NULL: kernels of every library; else of this one only (gyre/kernels.h); "gyre" names the
                            kernels that are part of this library */
    void *
        cuda_stream; /* CUstream or cudaStream_t that calls with tensors on a CUDA device are queued on; NULL: the default
                            stream */
} gyre_context_options;

static inline gyre_context_options gyre_context_defaults(void) {
    gyre_context_options o;
    memset(&o, 0, sizeof o);
    o.size = (uint32_t)sizeof o;
    return o;
}

/** Makes a context; options may be NULL. Errors: BAD_ARGUMENT (null, threads < 0, unknown target or
 *  library), UNSUPPORTED (a known target that is not linked or that this machine cannot run), OUT_OF_MEMORY. */
GYRE_API gyre_status gyre_context_create(const gyre_context_options *options, gyre_context **context);
GYRE_API void gyre_context_destroy(gyre_context *context);

/** The number of threads and the best target that calls with this context use. */
GYRE_API int32_t gyre_context_threads(const gyre_context *context);
GYRE_API const char *gyre_context_target(const gyre_context *context);

/** The kernel that the last successful call with this context ran, such as "attention_plain_f32_d64__x86_64_avx512"; ""
 *  before the first. */
GYRE_API const char *gyre_selected_kernel(const gyre_context *context);

/** The library that this kernel is of: "gyre", or a name given to gyre_add_kernels(); "" before the first call. */
GYRE_API const char *gyre_selected_library(const gyre_context *context);

/* ------------------------------------------------------------------------------------------------ frequencies */

/** A rule for the rotation frequencies, by the parameter names of model configurations. Zero means "not given": the
 *  rule's own default, or an error where the rule needs it. What each reads: runtime/frequencies/frequencies.cpp. */
typedef struct gyre_frequency_rule {
    uint32_t size;
    const char *rope_type;                    /* default, linear, dynamic, yarn, longrope, llama3, proportional */
    double rope_theta;                        /* base of the geometric series, 10000 */
    double factor;                            /* stretch: wanted length / trained length, >= 1 */
    int64_t original_max_position_embeddings; /* tokens the model was trained on */
    int64_t max_position_embeddings;          /* tokens the model is configured for */
    double attention_factor;                  /* yarn, longrope: overrides the computed one */
    double beta_fast, beta_slow;              /* yarn: 32, 1 turns */
    double mscale, mscale_all_dim;            /* yarn */
    int32_t truncate;                         /* yarn: 1 (default) rounds the ramp's ends, 0 does not */
    const double *short_factor, *long_factor; /* longrope: [rotary_dim / 2] each */
    double low_freq_factor, high_freq_factor; /* llama3 */
    double partial_rotary_factor;             /* proportional: rotated share of the head */
} gyre_frequency_rule;

static inline gyre_frequency_rule gyre_frequency_defaults(void) {
    gyre_frequency_rule r;
    memset(&r, 0, sizeof r);
    r.size = (uint32_t)sizeof r;
    r.rope_type = "default";
    r.rope_theta = 10000.0;
    r.truncate = 1;
    return r;
}

/** inv_freq[i], i in [0, rotary_dim / 2): radians a token; and the factor s that cos and sin are multiplied by.
 *  length: tokens of the sequence, read by dynamic and longrope; 0: not known. Computed in double.
 *  Errors: BAD_ARGUMENT (null, unknown rule, a missing or impossible parameter), BAD_SHAPE (rotary_dim odd, <= 0 or
 *  above head_dim). */
GYRE_API gyre_status gyre_frequencies(const gyre_frequency_rule *rule, int32_t rotary_dim, int32_t head_dim,
                                      int64_t length, double *inv_freq, double *attention_factor);

/* ------------------------------------------------------------------------------------------------ rotary */

/** Which two features form pair i.   half: (i, i + rotary_dim/2), ccccssss;   interleaved: (2i, 2i + 1), cscscscs. */
typedef enum gyre_pairing { GYRE_HALF = 0, GYRE_INTERLEAVED = 1 } gyre_pairing;

/** The exponent's denominator D in theta^(-2i / D): mixing the two silently ruins a model, hence explicit. */
typedef enum gyre_frequency_base { GYRE_OVER_ROTARY_DIM = 0, GYRE_OVER_HEAD_DIM = 1 } gyre_frequency_base;

/** M-RoPE: which position axis pair i reads.   contiguous: sections[0] pairs of axis 0, then sections[1] of axis 1, …
 *  interleaved: pair i reads axis i % axes while i < axes * sections[i % axes], else axis 0. */
typedef enum gyre_section_order { GYRE_SECTIONS_CONTIGUOUS = 0, GYRE_SECTIONS_INTERLEAVED = 1 } gyre_section_order;

#define GYRE_MAX_AXES 4

/** A rotation of the features [rotary_offset, rotary_offset + rotary_dim) of a head:
 *      out[p] = s * (x[p] cos a - x[q] sin a)        a = position * inv_freq[i], radians, reduced in double
 *      out[q] = s * (x[q] cos a + x[p] sin a)        source: Su et al., RoFormer, arXiv:2104.09864, section 3.2.2
 *  Angles come from theta, or inv_freq, or the tables cos and sin, the last given winning. */
typedef struct gyre_rope {
    uint32_t size;
    gyre_pairing pairing;
    int32_t rotary_dim;    /* even; 0: the head from rotary_offset to its end */
    int32_t rotary_offset; /* first rotated feature; attention accepts 0 only */
    double theta;          /* base, >= 1; the defaults say 10000 */
    gyre_frequency_base frequency_base;
    const double *inv_freq;  /* [rotary_dim / 2] radians a token, or NULL; see gyre_frequencies(). At most 1024; above 1
                                they lower the largest position to 2^31 / the largest of them */
    double attention_factor; /* s, 1; multiplies cos and sin of queries and keys, never of values or of given tables */
    const gyre_tensor *cos, *sin; /* f32, contiguous, or NULL: [rows, rotary_dim/2] read at the position, or
                                     [batch, seqlen, rotary_dim/2] one row a token (gyre_rotary() only; positions are
                                     then not read). One axis only */
    int32_t axes;                 /* 0 or 1: one position a token; 2..4: positions are [axes, batch, seqlen] */
    int32_t sections[GYRE_MAX_AXES];
    gyre_section_order section_order;
} gyre_rope;

static inline gyre_rope gyre_rope_defaults(void) {
    gyre_rope r;
    memset(&r, 0, sizeof r);
    r.size = (uint32_t)sizeof r;
    r.theta = 10000.0;
    r.attention_factor = 1.0;
    return r;
}

/** Arguments of gyre_rotary().
 *    x, out      layout's shape (batch = 1 for thd), f32, f16 or bf16, the same type; head_dim contiguous; out may be x
 *    positions   [batch, seqlen] or [seqlen], int32 or int64, in tokens, 0 <= position < 2^31; with rope.axes > 1
 *                [axes, batch, seqlen] or [axes, seqlen]; NULL: position_offset + 0, 1, 2, … (else it must be 0)
 *    reverse     0: rotate, 1: rotate back (the transpose)
 *    workspace   NULL: the context's own memory */
typedef struct gyre_rotary_args {
    uint32_t size;
    gyre_layout layout;
    gyre_tensor x, out;
    gyre_rope rope;
    int32_t reverse;
    const gyre_tensor *positions;
    int64_t position_offset;
    void *workspace;
    size_t workspace_size; /* bytes */
} gyre_rotary_args;

static inline gyre_rotary_args gyre_rotary_defaults(void) {
    gyre_rotary_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    a.rope = gyre_rope_defaults();
    return a;
}

/** Rotates queries or keys beside or in place of the input. Arithmetic in f32; |error| of cos and sin <= 2e-6 at every
 *  position below 2^20. Features outside the rotated window are copied bit for bit. Empty tensors are fine.
 *  Its gradient is the reverse rotation: x_grad is what this writes with x = out_grad and the other value of `reverse`.
 *  Errors: BAD_ARGUMENT (null data, negative or too large position, overlap that is not in place), BAD_SHAPE, BAD_TYPE,
 *  UNSUPPORTED (no linked kernel of this type), WORKSPACE_TOO_SMALL, OUT_OF_MEMORY.
 *
 *  Tensors on a CUDA device (all of them, positions and tables too) are rotated there, in f32 as well: launches are queued on the
 *  context's cuda_stream, in the caller's current CUDA context if it is of that device, else in its primary one, and nothing is
 *  waited for. The first call loads kernels; make it before a stream is captured. Positions are not checked, and may be
 *  negative; rows of tables are clamped. At most 512 rotated features; no workspace.
 *  Errors then: UNSUPPORTED (a tensor on the CPU beside others on the device; no driver, or a device below compute
 *  capability 8.0), BAD_ARGUMENT (memory that is not the device's, or ends before the tensor), INTERNAL (the driver's
 *  error, also one of earlier work on the device). */
GYRE_API gyre_status gyre_rotary(gyre_context *context, const gyre_rotary_args *args);

/** Bytes of workspace that gyre_rotary() with these arguments and this context needs; the data pointers may be NULL. */
GYRE_API gyre_status gyre_rotary_workspace_size(gyre_context *context, const gyre_rotary_args *args, size_t *bytes);

/** Arguments of gyre_rotary_qk(): queries and keys of the same tokens.
 *    q, k            layout's shape, with num_heads and num_kv_heads of their own; f32, f16 or bf16, all four the same
 *    q_out, k_out    their shapes; may be q and k themselves; none may overlap the other's
 *    all others      as gyre_rotary_args */
typedef struct gyre_rotary_qk_args {
    uint32_t size;
    gyre_layout layout;
    gyre_tensor q, k, q_out, k_out;
    gyre_rope rope;
    int32_t reverse;
    const gyre_tensor *positions;
    int64_t position_offset;
    void *workspace;
    size_t workspace_size; /* bytes */
} gyre_rotary_qk_args;

static inline gyre_rotary_qk_args gyre_rotary_qk_defaults(void) {
    gyre_rotary_qk_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    a.rope = gyre_rope_defaults();
    return a;
}

/** gyre_rotary() of queries and keys in one pass, in which each token's angles are formed once. The same bits.
 *  Errors: as gyre_rotary(). */
GYRE_API gyre_status gyre_rotary_qk(gyre_context *context, const gyre_rotary_qk_args *args);

/** Bytes of workspace that gyre_rotary_qk() with these arguments and this context needs; the data pointers may be NULL. */
GYRE_API gyre_status gyre_rotary_qk_workspace_size(gyre_context *context, const gyre_rotary_qk_args *args,
                                                   size_t *bytes);

/* ------------------------------------------------------------------------------------------------ attention */

/** Where row i of the queries stands among the keys, for causal, window and ALiBi:
 *  bottom_right: pos_q = i + seqlen_kv - seqlen_q (the last query sees the last key); top_left: pos_q = i; pos_k = j. */
typedef enum gyre_alignment { GYRE_BOTTOM_RIGHT = 0, GYRE_TOP_LEFT = 1 } gyre_alignment;

/** A tensor that a score function asks for by name: what it says of it, with [batch, num_heads] before, either of which
 *  may be 1, and 1s in front may be left out. f32 or int32, any strides. An extent that the function declares as that of
 *  the queries or keys is seqlen_q or seqlen_kv. thd: entry b belongs to sequence b, unless an extent is that of queries
 *  or keys: this one then counts the tokens of all sequences, and the first extent is 1. */
typedef struct gyre_score_input {
    const char *name;
    gyre_tensor tensor; /* must not overlap out or lse */
} gyre_score_input;

/** Arguments of gyre_attention().   Layout bshd; bhsd and thd swap the dimensions as gyre_layout says; lists are
 *  contiguous.
 *    q          [batch, seqlen_q, num_heads, head_dim]        f32, f16 or bf16, all four the same; contiguous, 1..512
 *    k          [batch, seqlen_kv, num_kv_heads, head_dim]    num_heads % num_kv_heads == 0 (GQA, MQA)
 *    v          [batch, seqlen_kv, num_kv_heads, v_head_dim]  v_head_dim 1..512, may differ from head_dim
 *    out        [batch, seqlen_q, num_heads, v_head_dim]      must not overlap q, k or v; it may be q itself
 *    lse        [batch, num_heads, seqlen_q] f32 ([num_heads, total_q] for thd), last dimension contiguous, or NULL:
 *               log of the softmax denominator, natural, sink included; -inf where nothing is visible
 *    scale      of the scores; 0 counts as not given: 1 / sqrt(head_dim)
 *    softcap    > 0: scores become softcap * tanh(score / softcap), before bias and masks
 *    window     pos_q - window_left <= pos_k <= pos_q + window_right, -1: unbounded; causal also asks pos_k <= pos_q
 *    bias       f32, f16 or bf16, added to the scores; below -1e38 it masks;  mask: bool, true = attend; NULL: none.
 *               Both broadcast to [batch, num_heads, seqlen_q, seqlen_kv] by NumPy's rule; not with thd
 *    sinks      [num_heads] f32 or NULL: exp(sink) joins the denominator only
 *    alibi      [num_heads] f32 or NULL: slope * (pos_k - pos_q) is added to the scores
 *    seqused_k  [batch] int32 or NULL: only the first seqused_k[b] keys exist (and count for the alignment)
 *    cu_seqlens [batch + 1] int32, thd only: sequence b is tokens cu_seqlens[b] .. cu_seqlens[b + 1] - 1
 *    rope       rotates q and k, NULL: not; keys_rotated: k is already rotated (a cache), only q is
 *    value_rope RoPER: rotates v at its positions, the weighted sum back at the query's; values_rotated: v already is
 *    q_positions, k_positions   for the rotations only: [batch, seqlen] or [seqlen] (thd: [total]), int32 or int64,
 *               >= 0, preceded by [axes] if the ropes have several, which must then be as many for both;
 *               NULL: keys at 0, 1, 2 …, queries at seqlen_kv - seqlen_q + 0, 1, 2 …, of each sequence's own lengths
 *    score      name of a score function that kernels were built with (gyre_add_kernels() in CMake), NULL: none. It
 *               changes the scores after softcap, before bias and masks, and reads score_inputs, all of them and no others
 *    page_table [batch, max_pages] int32 or NULL: k and v are pools of pages, [num_pages, page_size, num_kv_heads, dim]
 *               (bhsd: [num_pages, num_kv_heads, page_size, dim]), page_size a power of two, and key j of entry b is slot
 *               j % page_size of page page_table[b, j / page_size]. seqlen_kv is max_pages * page_size; seqused_k says
 *               how many keys each entry has, and only the pages that hold them are looked up. With thd, entries are sequences,
 *               pools are as with bshd, k_positions too, and there is no cu_seqlens_k; not with a score then
 *    value_order  GYRE_VALUES_IN_BLOCKS: v is a cache in blocks, contiguous or paged, whose keys and values are rotated
 *               already where they are to be; not with thd without a page_table, nor with softcap, bias, mask, sinks, alibi,
 *               dropout or a score
 *    dropout    probability p, 0 <= p < 1, that P_ij becomes 0; the others become P_ij / (1 - p). lse is that of all. Not with a
 *               score. Which are dropped follows from dropout_seed, dropout_offset, and where they stand, alone: key j of
 *               query i and head h of batch entry b (thd: of sequence b; i and j count from its first) is dropped if
 *               w[j % 4] < floor(p 2^32), where w = Philox4x32-10 of the counter words {j / 4, i, b * num_heads + h,
 *               dropout_offset} and the key words {dropout_seed % 2^32, dropout_seed / 2^32} (Salmon et al., SC 2011).
 *               A training step takes a seed for all and an offset of its own for each call */
typedef struct gyre_attention_args {
    uint32_t size;
    gyre_layout layout;
    gyre_tensor q, k, v, out;
    const gyre_tensor *lse;
    float scale;
    float softcap;
    int32_t causal;
    gyre_alignment alignment;
    int64_t window_left, window_right;
    const gyre_tensor *bias;
    const gyre_tensor *mask;
    const gyre_tensor *sinks;
    const gyre_tensor *alibi;
    const gyre_tensor *seqused_k;
    const gyre_tensor *cu_seqlens_q, *cu_seqlens_k;
    const gyre_rope *rope;
    const gyre_rope *value_rope;
    int32_t keys_rotated;
    int32_t values_rotated;
    const gyre_tensor *q_positions, *k_positions;
    void *workspace;
    size_t workspace_size; /* bytes */
    const char *score;
    const gyre_score_input *score_inputs; /* [score_input_count] */
    int32_t score_input_count;
    const gyre_tensor *page_table;
    gyre_value_order value_order;
    float dropout;
    uint32_t dropout_offset;
    uint64_t dropout_seed;
} gyre_attention_args;

static inline gyre_attention_args gyre_attention_defaults(void) {
    gyre_attention_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    a.window_left = -1;
    a.window_right = -1;
    return a;
}

/** Fused attention, one pass, never a seqlen_q x seqlen_kv array:
 *      S = scale * R(q) R(k)^T, capped, given to the score function, biased, masked
 *      P = softmax over keys, some dropped;   out_i = R(-i) sum_j P_ij R(j) v_j
 *  Softmax and accumulation in f32. A row that sees no key gives 0 and lse -inf. The result's bits do not depend on the
 *  number of threads. Sources: Dao et al., FlashAttention, arXiv:2205.14135 (online softmax); Su et al., RoFormer,
 *  arXiv:2104.09864 (R); Harik and Jayasiri, RoPER (rotated values).
 *  Tensors on a CUDA device (all of them, lists and positions too), in bf16 or f16 with head_dim = v_head_dim 64, 96, 128 or
 *  256: one launch on the context's cuda_stream, as gyre_rotary() does; weights are rounded to the tensors' type. Where keys
 *  or values are rotated in the call, launches before it form their angles in the workspace: memory of the device, or
 *  NULL: the stream's (cuMemAllocAsync), which gets it back. With page_table, bias, mask, softcap, alibi or sinks they
 *  are not rotated in the call, and their rows are aligned to 16 bytes. At most 16 queries a sequence (on average),
 *  with head_dim 64 or 128, over keys and values that are not rotated in the call and aligned so, without bias, mask,
 *  softcap, alibi and sinks, are two launches: keys are cut into parts, whose results are in the workspace, and merged;
 *  how many parts depends on the device and on how many sequences and heads there are, and so do the last bits of the
 *  result. A batch entry of bias or mask spans less than 2^31 elements. Not there: value_order, score, dropout. What
 *  lists and positions hold is not checked, only kept within bounds.
 *  Errors: as gyre_rotary(), each naming the argument. */
GYRE_API gyre_status gyre_attention(gyre_context *context, const gyre_attention_args *args);

/** Bytes of workspace that gyre_attention() with these arguments and this context needs; data pointers may be NULL. */
GYRE_API gyre_status gyre_attention_workspace_size(gyre_context *context, const gyre_attention_args *args,
                                                   size_t *bytes);

/** Arguments of gyre_attention_backward().   Layout and options are those of the forward call.
 *    forward    what gyre_attention() was called with: q, k, v and its results out and lse, which it must have written (lse
 *               is not optional here, and out not q itself). mask, sinks, score and page_table must be NULL; dropout, seed and
 *               offset are to be the same. Its workspace is not used
 *    out_grad   dO, of out's shape and type; head_dim contiguous
 *    q_grad, k_grad, v_grad   dQ, dK and dV, of q's, k's and v's shapes and types; written, whatever they held; head_dim
 *               contiguous; they must not overlap each other or anything that is read
 *    workspace  NULL: the context's own memory. It is linear in the sequences' lengths
 *    bias_grad  of forward.bias's shape, f32 whatever its type, last dimension contiguous; NULL: not wanted. Sums over whatever
 *               bias is repeated for: where batch entries or heads share one, a single thread does all of them */
typedef struct gyre_attention_backward_args {
    uint32_t size;
    const gyre_attention_args *forward;
    gyre_tensor out_grad;
    gyre_tensor q_grad, k_grad, v_grad;
    void *workspace;
    size_t workspace_size; /* bytes */
    const gyre_tensor *bias_grad;
} gyre_attention_backward_args;

static inline gyre_attention_backward_args gyre_attention_backward_defaults(void) {
    gyre_attention_backward_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    return a;
}

/** Gradients of attention, given that of its result: of the tensors as they were given, so of q and k before they are
 *  rotated (of a k or v that was rotated already, of it as it is). Probabilities are formed again from lse: never a
 *  seqlen_q x seqlen_kv array. Arithmetic and sums in f32 for every type. Keys beyond seqused_k get 0, as do queries that
 *  see no key. The result's bits do not depend on the number of threads, which share the work by sequences and key heads.
 *  Source: Dao et al., FlashAttention, arXiv:2205.14135, algorithm 4; a rotation's gradient is the reverse rotation.
 *  Errors: as gyre_attention(), each naming the argument. */
GYRE_API gyre_status gyre_attention_backward(gyre_context *context, const gyre_attention_backward_args *args);

/** Bytes of workspace that gyre_attention_backward() with these arguments and this context needs; data pointers may be
 *  NULL. */
GYRE_API gyre_status gyre_attention_backward_workspace_size(gyre_context *context,
                                                            const gyre_attention_backward_args *args, size_t *bytes);

/** Arguments of gyre_attention_merge().   Layout bshd; bhsd and thd swap the dimensions as gyre_layout says.
 *    part_out   what gyre_attention() gave as out for part 0: [batch, seqlen, num_heads, v_head_dim]; f32, f16 or bf16;
 *               head_dim contiguous, 1..512. The out of part p begins p * part_out_stride elements later
 *    part_lse   its lse: [batch, num_heads, seqlen] f32 ([num_heads, total] for thd), last dimension contiguous; of part p
 *               p * part_lse_stride elements later; -inf: the part sees no key, and its out is not read for this row
 *    parts      how many, >= 0
 *    out        part_out's shape; part_out's type, or any if that is f32
 *    lse        part_lse's shape, or NULL.   out and lse must not overlap each other or any part
 *    workspace  NULL: the context's own memory */
typedef struct gyre_attention_merge_args {
    uint32_t size;
    gyre_layout layout;
    int32_t parts;
    gyre_tensor part_out, part_lse;
    int64_t part_out_stride, part_lse_stride; /* elements, >= 0 */
    gyre_tensor out;
    const gyre_tensor *lse;
    void *workspace;
    size_t workspace_size; /* bytes */
} gyre_attention_merge_args;

static inline gyre_attention_merge_args gyre_attention_merge_defaults(void) {
    gyre_attention_merge_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    return a;
}

/** Merges attention of the same queries over disjoint sets of keys into attention over all of them:
 *      lse = log sum_p exp(lse_p),   out = sum_p exp(lse_p - lse) out_p
 *  in f32. A row that no part sees gives 0 and lse -inf; no parts, too. For keys that lie on several machines, or that a
 *  caller divides among tasks of its own. Sinks must have joined one part's denominator only. Tensors on a CUDA device (all
 *  of them): one launch on the context's cuda_stream, without workspace.
 *  Errors: as gyre_rotary(), each naming the argument. */
GYRE_API gyre_status gyre_attention_merge(gyre_context *context, const gyre_attention_merge_args *args);

/** Bytes of workspace that gyre_attention_merge() with these arguments and this context needs; data pointers may be
 *  NULL. */
GYRE_API gyre_status gyre_attention_merge_workspace_size(gyre_context *context, const gyre_attention_merge_args *args,
                                                         size_t *bytes);

/* ------------------------------------------------------------------------------------------------ linear attention */

/** Arguments of gyre_linear_attention().   Layout bshd; bhsd and thd swap the dimensions as gyre_layout says; lists are
 *  contiguous.
 *    q          [batch, seqlen_q, num_heads, head_dim]        f32, f16 or bf16, all four the same; contiguous, 1..512
 *    k          [batch, seqlen_kv, num_kv_heads, head_dim]    num_heads % num_kv_heads == 0 (GQA, MQA)
 *    v          [batch, seqlen_kv, num_kv_heads, v_head_dim]  v_head_dim 1..512
 *    out        [batch, seqlen_q, num_heads, v_head_dim]      must not overlap q, k or v; it may be q itself
 *    causal     0: every query sees every key;   1: query i sees keys 0 .. i, and seqlen_q == seqlen_kv, of packed
 *               sequences each
 *    seqused_k  [batch] int32 or NULL: only the first seqused_k[b] keys exist
 *    cu_seqlens [batch + 1] int32, thd only: sequence b is tokens cu_seqlens[b] .. cu_seqlens[b + 1] - 1
 *    rope       rotates the features of q and k in the numerator, NULL: not
 *    q_positions, k_positions   [batch, seqlen] or [seqlen] (thd: [total]), int32 or int64, >= 0, preceded by [axes] if the
 *               rope has several; NULL: keys at 0, 1, 2 …, queries at seqlen_kv - seqlen_q + 0, 1, 2 …, of each sequence's own
 *               lengths (causal: both at 0, 1, 2 …, whatever seqused_k says). A sequence that goes on from a state needs both
 *    kv_state, k_state          [batch, num_kv_heads, head_dim, v_head_dim] and [batch, num_kv_heads, head_dim], f32, last
 *               dimension contiguous; batch: of sequences with thd. What earlier calls left of keys that all queries here see
 *               too: the sum of their rotated features times their values, and of their features. NULL, both: there are none
 *    kv_state_out, k_state_out  the same with the keys of this call; NULL, both: not wanted. They may be kv_state and k_state
 *               themselves
 *    workspace  NULL: the context's own memory */
typedef struct gyre_linear_attention_args {
    uint32_t size;
    gyre_layout layout;
    gyre_tensor q, k, v, out;
    int32_t causal;
    const gyre_tensor *seqused_k;
    const gyre_tensor *cu_seqlens_q, *cu_seqlens_k;
    const gyre_rope *rope;
    const gyre_tensor *q_positions, *k_positions;
    const gyre_tensor *kv_state, *k_state;
    const gyre_tensor *kv_state_out, *k_state_out;
    void *workspace;
    size_t workspace_size; /* bytes */
} gyre_linear_attention_args;

static inline gyre_linear_attention_args gyre_linear_attention_defaults(void) {
    gyre_linear_attention_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    return a;
}

/** Linear attention, in time linear in the length:
 *      out_i = sum_j (R(q) phi(q_i)) . (R(k) phi(k_j)) v_j / sum_j phi(q_i) . phi(k_j)       phi(x) = elu(x) + 1
 *  over the keys that query i sees and those of the state. Rotations are in the numerator only, where attention_factor
 *  counts twice. Queries with nothing to see give 0. Features of arguments below -44 are those of -44, 5e-20; on arm_32_neon,
 *  whose vectors have no numbers below 1e-38, those below -36 are those of -36, 2e-16. A value that is no number shows in
 *  causal queries shortly before it, too.
 *  A sequence may be given in pieces, down to single tokens, each going on from the state that the one before left:
 *  the results are those of one call up to rounding, and the same bits if the pieces' lengths, but for the last, are
 *  multiples of the kernel's chunk of tokens ("rows" of `gyre kernels`). Arithmetic and sums in f32 for every type. The
 *  result's bits do not depend on the number of threads.
 *  Sources: Katharopoulos et al., Transformers are RNNs, arXiv:2006.16236; Su et al., RoFormer, arXiv:2104.09864, eq. 19.
 *  Errors: as gyre_rotary(), each naming the argument. */
GYRE_API gyre_status gyre_linear_attention(gyre_context *context, const gyre_linear_attention_args *args);

/** Bytes of workspace that gyre_linear_attention() with these arguments and this context needs; data pointers may be NULL. */
GYRE_API gyre_status gyre_linear_attention_workspace_size(gyre_context *context, const gyre_linear_attention_args *args,
                                                          size_t *bytes);

/** Arguments of gyre_linear_attention_backward().   Layout and options are those of the forward call.
 *    forward    what gyre_linear_attention() was called with: q, k, v, and the states as they were before. Its out, kv_state_out
 *               and k_state_out are not looked at, nor its workspace
 *    out_grad   of out's shape and type; head_dim contiguous
 *    q_grad, k_grad, v_grad             of q's, k's and v's shapes and types; written, whatever they held; head_dim contiguous; they
 *               must not overlap each other or anything that is read
 *    kv_state_out_grad, k_state_out_grad  gradients of what the call left as states, of these shapes, f32; NULL, both: 0
 *    kv_state_grad, k_state_grad        gradients of kv_state and k_state, written; NULL, both: not wanted
 *    workspace  NULL: the context's own memory. It is linear in the sequences' lengths */
typedef struct gyre_linear_attention_backward_args {
    uint32_t size;
    const gyre_linear_attention_args *forward;
    gyre_tensor out_grad;
    gyre_tensor q_grad, k_grad, v_grad;
    const gyre_tensor *kv_state_out_grad, *k_state_out_grad;
    const gyre_tensor *kv_state_grad, *k_state_grad;
    void *workspace;
    size_t workspace_size; /* bytes */
} gyre_linear_attention_backward_args;

static inline gyre_linear_attention_backward_args gyre_linear_attention_backward_defaults(void) {
    gyre_linear_attention_backward_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    return a;
}

/** Gradients of linear attention, given that of its result and of the states that it left: of the tensors as they were
 *  given. In time linear in the length, by two passes over the tokens, one of them against their order. Arithmetic and sums in
 *  f32 for every type. Keys beyond seqused_k get 0. The result's bits do not depend on the number of threads, which share the
 *  work by sequences and key heads.
 *  Errors: as gyre_linear_attention(). */
GYRE_API gyre_status gyre_linear_attention_backward(gyre_context *context,
                                                    const gyre_linear_attention_backward_args *args);

/** Bytes of workspace that gyre_linear_attention_backward() with these arguments and this context needs; data pointers may be
 *  NULL. */
GYRE_API gyre_status gyre_linear_attention_backward_workspace_size(gyre_context *context,
                                                                   const gyre_linear_attention_backward_args *args,
                                                                   size_t *bytes);

/* ------------------------------------------------------------------------------------------------ cache */

/** Arguments of gyre_cache_append().   Layouts bshd; bhsd and thd swap the dimensions as gyre_layout says; lists are
 *  contiguous.
 *    k, v           new tokens, [batch, seqlen, num_kv_heads, head_dim] and v_head_dim; f32, f16 or bf16, both the same
 *    k_cache,       [batch, capacity, num_kv_heads, head_dim] and v_head_dim, in cache_layout, bshd or bhsd. k's type, or
 *    v_cache        f16 or bf16 if that is f32; both the same. Must not overlap each other, k or v; the two may be slots
 *                   of one array, such as [num_pages, 2, page_size, num_kv_heads, head_dim]
 *    cu_seqlens_k   [batch + 1] int32, thd only: sequence b is tokens cu_seqlens_k[b] .. cu_seqlens_k[b + 1] - 1 of k, v
 *    cache_seqlens  [batch] int32: keys that each sequence has in the cache; NULL: none. New token i of sequence b becomes
 *                   key cache_seqlens[b] + i. The list is only read: what attention is given as seqused_k is the sum
 *    page_table     [batch, max_pages] int32 or NULL: the caches are pools of pages, as gyre_attention()'s k and v:
 *                   [num_pages, page_size, num_kv_heads, dim] (bhsd: [num_pages, num_kv_heads, page_size, dim]), and key
 *                   j of sequence b is slot j % page_size of page page_table[b, j / page_size]. Only entries of pages that
 *                   are written are looked up; sequences may share a page where they write none of its slots twice
 *    rope           rotates k, NULL: not;   value_rope: RoPER, rotates v, NULL: not. Any window of features, though
 *                   gyre_attention() takes the first ones only
 *    positions      [batch, seqlen] or [seqlen] (thd: [total]), int32 or int64, >= 0, preceded by [axes] if the ropes
 *                   have several, which must then be as many for both; NULL: keys stand where their slots are,
 *                   cache_seqlens[b] + 0, 1, 2 …, as gyre_attention() has it
 *    value_order    GYRE_VALUES_IN_BLOCKS: so v_cache keeps values; to rearrange a cache, append its keys and values to
 *                   an empty one
 *    workspace      NULL: the context's own memory */
typedef struct gyre_cache_append_args {
    uint32_t size;
    gyre_layout layout, cache_layout;
    gyre_tensor k, v, k_cache, v_cache;
    const gyre_tensor *cu_seqlens_k;
    const gyre_tensor *cache_seqlens;
    const gyre_tensor *page_table;
    const gyre_rope *rope;
    const gyre_rope *value_rope;
    const gyre_tensor *positions;
    void *workspace;
    size_t workspace_size; /* bytes */
    gyre_value_order value_order;
} gyre_cache_append_args;

static inline gyre_cache_append_args gyre_cache_append_defaults(void) {
    gyre_cache_append_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    return a;
}

/** Rotates new keys and values, converts them to the cache's type and writes them into a cache that gyre_attention()
 *  then reads with keys_rotated and values_rotated, in one pass over the tokens: angles are formed once a token if both
 *  ropes have the same. Slots of other keys stay as they are. The bits are those of gyre_rotary() where types are the same;
 *  else the f32 result is rounded to nearest even. What is not rotated is copied bit for bit, or rounded. value_rope's
 *  attention_factor is not applied.
 *  Tensors on a CUDA device (all of them, lists and positions too): a launch for keys and one for values on the context's
 *  cuda_stream, without workspace. What lists hold is not checked: a token that the cache has no room for, or in a page that
 *  the pool does not have, is not written; a slot that is written twice holds either. Not there: value_order.
 *  Errors: as gyre_rotary(), each naming the argument; BAD_ARGUMENT also for more tokens than the cache has room for, a
 *  page that the pool does not have, and a slot that would be written twice. */
GYRE_API gyre_status gyre_cache_append(gyre_context *context, const gyre_cache_append_args *args);

/** Bytes of workspace that gyre_cache_append() with these arguments and this context needs; data pointers may be NULL. */
GYRE_API gyre_status gyre_cache_append_workspace_size(gyre_context *context, const gyre_cache_append_args *args,
                                                      size_t *bytes);

/* ------------------------------------------------------------------------------------------------ what is linked */

typedef struct gyre_target_info {
    const char *name;     /* "x86_64_avx512" */
    int32_t linked;       /* kernels of this target are in this library */
    int32_t runnable;     /* this machine has every feature it needs */
    const char *features; /* what it needs, separated by blanks; "" for a baseline */
    const char *missing;  /* the first that this machine lacks; "" if runnable */
    const char *rest;     /* the target whose kernels serve where it has none of its own; "": there is none */
    gyre_device device;   /* where the tensors of its calls are */
} gyre_target_info;

typedef struct gyre_kernel_info {
    const char *name;       /* "attention_plain_f32_d64__x86_64_avx512" */
    const char *operation;  /* "attention" */
    const char *variant;    /* "plain_f32_d64" */
    const char *target;     /* "x86_64_avx512" */
    const char *attributes; /* "family=plain dtype=f32 head_dim=64 …" */
    const char *evidence;   /* where its knobs come from: "default", or a measurement in one line */
    const char *library;    /* whose it is: "gyre", or a name given to gyre_add_kernels() */
    int32_t runnable;
} gyre_kernel_info;

/** Targets of this architecture, best first; kernels in the order in which they are tried. Return 0 past the end. */
GYRE_API int32_t gyre_target_count(void);
GYRE_API int32_t gyre_target_at(int32_t index, gyre_target_info *info);
GYRE_API int32_t gyre_kernel_count(void);
GYRE_API int32_t gyre_kernel_at(int32_t index, gyre_kernel_info *info);

/** Which kernels of an operation take a call: the first rule that does, and whose kernels are linked for the call's type
 *  and sizes. Among these the best target's serve, and those made for the head sizes rather than padded ones. */
typedef struct gyre_dispatch_rule {
    const char *operation; /* "attention" */
    const char *kernels;   /* "split": how their variants begin */
    const char *calls;     /* which calls they take, in words */
} gyre_dispatch_rule;

/** The rules, in order. Returns 0 past the end. */
GYRE_API int32_t gyre_dispatch_rule_count(void);
GYRE_API int32_t gyre_dispatch_rule_at(int32_t index, gyre_dispatch_rule *rule);

/** The features that this machine and its system offer, of those that targets ask for, separated by blanks. */
GYRE_API const char *gyre_cpu_features(void);

#ifdef __cplusplus
}
#endif
#endif
