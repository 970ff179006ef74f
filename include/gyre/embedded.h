/** @file
 * Gyre for machines without an operating system: rotary embeddings (RoPE) and attention over a cache of rotated keys
 * and values (RoPER), from kernels that Halide generated ahead of time. C99, nothing of the hosted library.
 *
 *     static float k_cache[CAPACITY][KV_HEADS][64], v_cache[CAPACITY][KV_HEADS][64], angles[2][32];
 *     gyre_embedded_frequencies(10000.0, 64, frequencies);                      // once
 *     gyre_embedded_angles(frequencies, 32, position, 1, 1.0f, &angles[0][0]);  // a token
 *     gyre_embedded_rotary(&append_k);     // x: the new keys, out: k_cache[position]; likewise values
 *     gyre_embedded_attention(&attend);    // rotates queries, and results back
 *
 * No heap, no threads, no variable that outlives a call, no recursion. Of a C library only memcpy() and memset() are
 * called. Every function that can fail returns a status; wrong arguments leave everything as it was. Kernels are
 * constants: a program holds those it names (gyre/embedded_kernels.h, made with the library).
 */
#ifndef GYRE_EMBEDDED_H
#define GYRE_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The numbers are those of gyre_status. */
typedef enum gyre_embedded_status {
    GYRE_EMBEDDED_OK = 0,           /**< done */
    GYRE_EMBEDDED_BAD_ARGUMENT = 1, /**< a null or misaligned pointer, tensors that overlap, a value out of range */
    GYRE_EMBEDDED_BAD_SHAPE = 2,    /**< an extent: negative, too large, or not what the kernel was made for */
    GYRE_EMBEDDED_WORKSPACE_TOO_SMALL = 5, /**< smaller than gyre_embedded_attention_workspace_size() says */
    GYRE_EMBEDDED_INTERNAL = 7             /**< a kernel reported a failure: a defect of the library */
} gyre_embedded_status;

/** The types of tensors' elements. */
typedef enum gyre_embedded_dtype {
    GYRE_EMBEDDED_F32 = 0, /**< IEEE 754 binary32 */
    GYRE_EMBEDDED_F16 = 1, /**< IEEE 754 binary16 */
    GYRE_EMBEDDED_I8 = 2,  /**< of caches alone: each row with a scale, see gyre_embedded_quantize() */
    GYRE_EMBEDDED_Q15 = 3 /**< of rotary alone: int16 in units of 2^-15, with tables likewise; arithmetic in integers */
} gyre_embedded_dtype;

/** Which two features form pair i. */
typedef enum gyre_embedded_pairing {
    GYRE_EMBEDDED_HALF = 0,       /**< (i, i + pairs): ccccssss */
    GYRE_EMBEDDED_INTERLEAVED = 1 /**< (2i, 2i + 1): cscscscs */
} gyre_embedded_pairing;

/* ------------------------------------------------------------------------------------------------ angles */

/** Frequencies theta^(-2i / rotary_dim) of pairs i in [0, rotary_dim / 2), in turns a token, as fractions of 2^64: times
 *  a position, modulo 2^64, they are angles that hold at any position. Computes in double, in software on most
 *  microcontrollers: once, or on another machine. theta > 1; rotary_dim even, 2 .. 512. */
gyre_embedded_status gyre_embedded_frequencies(double theta, int32_t rotary_dim, uint64_t *frequencies);

/** One frequency of another rule: radians a token, above 0 and below 2 pi; others give 0. */
uint64_t gyre_embedded_frequency(double radians);

/** A table of cosines and sines, times scale (1, or the attention factor of YaRN), for `rows` positions from `first` on.
 *    frequencies  [pairs]
 *    table        [rows, 2, pairs]   cosines, then sines
 *  Within 5e-7 at every position; computes in 64-bit integers and f32. first >= 0, first + rows <= 2^31. */
gyre_embedded_status gyre_embedded_angles(const uint64_t *frequencies, int32_t pairs, int32_t first, int32_t rows,
                                          float scale, float *table);

/** gyre_embedded_angles() in Q15, for kernels that take it, without a scale: cosines and sines are rounded to nearest, and 1 is
 *  32767 / 32768. Computes in integers alone, within 2^-15. */
gyre_embedded_status gyre_embedded_angles_q15(const uint64_t *frequencies, int32_t pairs, int32_t first, int32_t rows,
                                              int16_t *table);

/* ------------------------------------------------------------------------------------------------ rotary */

/** A kernel of rotary embeddings. */
typedef struct gyre_embedded_rotary_kernel {
    gyre_embedded_dtype x_dtype;   /**< what it reads */
    gyre_embedded_dtype out_dtype; /**< what it writes */
    gyre_embedded_pairing pairing; /**< which features form pairs */
    int (*call)(void **);          /**< Halide's entry */
} gyre_embedded_rotary_kernel;

/** Arguments of gyre_embedded_rotary(). */
typedef struct gyre_embedded_rotary_args {
    /** The kernel to run. */
    const gyre_embedded_rotary_kernel *kernel;
    /** Heads to rotate: [tokens, heads, head_dim] of kernel->x_dtype, dense. */
    const void *x;
    /** The result: [tokens, heads, head_dim] of kernel->out_dtype, dense. It may be x, if their types are the same. */
    void *out;
    int32_t tokens;        /**< at least 0 */
    int32_t heads;         /**< at least 0 */
    int32_t head_dim;      /**< at least 0 */
    int32_t rotary_dim;    /**< features that are rotated, even; 0: all are copied */
    int32_t rotary_offset; /**< the first of them */
    /** [tokens, 2, rotary_dim / 2], see gyre_embedded_angles(), or _q15(); may be NULL if rotary_dim is 0. */
    const void *angles;
    int32_t reverse; /**< 1: rotate back; 0: rotate */
} gyre_embedded_rotary_args;

/** Rotates heads, or rotates them back; other features are copied. Where the types differ, all are converted. In Q15, results that
 *  are too large saturate: rotated features may grow by a factor of the square root of 2.
 *  Errors: BAD_ARGUMENT (null, misaligned or overlapping pointers, a value out of range), BAD_SHAPE, INTERNAL. */
gyre_embedded_status gyre_embedded_rotary(const gyre_embedded_rotary_args *args);

/** Rows for a cache in 8 bits: `out` times the row's scale is within half a scale of x. The scale is the row's largest magnitude
 *  divided by 127. A quarter of the memory; what it costs in accuracy is in runtime/embedded/README.md. Keys and values are
 *  rotated in f32 before.
 *    x        [rows, dim]   finite
 *    out      [rows, dim]   -127 .. 127
 *    scales   [rows] */
gyre_embedded_status gyre_embedded_quantize(const float *x, int32_t rows, int32_t dim, int8_t *out, float *scales);

/* ------------------------------------------------------------------------------------------------ attention */

/** A kernel of attention. */
typedef struct gyre_embedded_attention_kernel {
    gyre_embedded_dtype dtype;       /**< of q and out; arithmetic is in f32 */
    gyre_embedded_dtype cache_dtype; /**< of k and v */
    int32_t head_dim;                /**< features of a head */
    int32_t task_rows;               /**< query rows that run at once */
    int32_t key_block;               /**< keys whose scores exist at once */
    size_t workspace;                /**< bytes it allocates; 0: its stack suffices */
    int (*call)(void **);            /**< Halide's entry */
} gyre_embedded_attention_kernel;

/** Arguments of gyre_embedded_attention(). */
typedef struct gyre_embedded_attention_args {
    /** The kernel to run. */
    const gyre_embedded_attention_kernel *kernel;
    /** Queries: [tokens, num_heads, head_dim] of kernel->dtype, dense. */
    const void *q;
    /** Keys: [keys, num_kv_heads, head_dim] of kernel->cache_dtype, dense. Query head h reads head h / (num_heads / num_kv_heads). */
    const void *k;
    /** Values, shaped as k is. */
    const void *v;
    /** [keys, num_kv_heads] scales of a cache in int8; NULL with other kernels. */
    const float *k_scales;
    /** [keys, num_kv_heads] scales of a cache in int8; NULL with other kernels. */
    const float *v_scales;
    /** The result: [tokens, num_heads, head_dim] of kernel->dtype, dense. It may be q. */
    void *out;
    /** [num_heads, tokens] natural logarithms of the softmax's denominators, -inf where no key is visible; NULL: not wanted. */
    float *lse;
    int32_t tokens;                /**< queries, at least 0; the last stands at the last key */
    int32_t keys;                  /**< keys of the cache, at least 0 */
    int32_t num_heads;             /**< query heads */
    int32_t num_kv_heads;          /**< key heads, a divisor of num_heads */
    int32_t head_dim;              /**< features of a head, as the kernel's */
    float scale;                   /**< what products of queries and keys are multiplied by; 0: 1 / sqrt(head_dim) */
    int32_t causal;                /**< 1: a query sees keys up to its own; 0: all */
    int32_t window_left;           /**< a query sees this many keys before its own; -1: all */
    int32_t rotary_dim;            /**< first features of q that are rotated; 0: none */
    int32_t rotary_v_dim;          /**< first features of out that are rotated back; 0: none */
    gyre_embedded_pairing pairing; /**< of q */
    gyre_embedded_pairing value_pairing; /**< of out */
    /** [tokens, 2, rotary_dim / 2] of the queries' positions; may be NULL if rotary_dim is 0. */
    const float *q_angles;
    /** [tokens, 2, rotary_v_dim / 2] of the queries' positions; may be NULL if rotary_v_dim is 0. */
    const float *out_angles;
    /** gyre_embedded_attention_workspace_size() bytes. */
    void *workspace;
    /** Bytes of workspace. */
    size_t workspace_size;
} gyre_embedded_attention_args;

/** Bytes of workspace for any call with this kernel. The same number is a constant of gyre/embedded_kernels.h, for arrays
 *  and for other machines. */
size_t gyre_embedded_attention_workspace_size(const gyre_embedded_attention_kernel *kernel);

/** Attention over a cache: out_i = R(-i) sum_j softmax_j(scale R(i) q_i · k_j) v_j. k and v are rotated already, as
 *  gyre_embedded_rotary() has written them into a cache. Query i is at key keys - tokens + i: prefill and decoding differ in
 *  `tokens` alone. Where no key is visible, out is 0.
 *  Errors: BAD_ARGUMENT (null, misaligned or overlapping pointers, a value out of range), BAD_SHAPE, WORKSPACE_TOO_SMALL,
 *  INTERNAL. */
gyre_embedded_status gyre_embedded_attention(const gyre_embedded_attention_args *args);

#ifdef __cplusplus
}
#endif
#endif
