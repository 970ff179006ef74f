/**
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
 *
 * Structs have the same layout for every compiler of a processor, whatever it makes of enums: the end of this header asserts it.
 * So a program may be compiled by another compiler than the library. Structs of arguments carry their size, which every call
 * checks.
 */
#ifndef GYRE_EMBEDDED_H
#define GYRE_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Declares an enumeration of 32 bits. C leaves the width of an enum to the compiler, and compilers for microcontrollers differ. */
#ifdef __cplusplus
#define GYRE_EMBEDDED_ENUM(name) enum name : int32_t
#else
#define GYRE_EMBEDDED_ENUM(name)                                                                                       \
    typedef int32_t name;                                                                                              \
    enum name
#endif

/** The numbers are those of gyre_status. */
GYRE_EMBEDDED_ENUM(gyre_embedded_status) {
    GYRE_EMBEDDED_OK = 0,           /**< done */
    GYRE_EMBEDDED_BAD_ARGUMENT = 1, /**< a null or misaligned pointer, tensors that overlap, a value out of range */
    GYRE_EMBEDDED_BAD_SHAPE = 2,    /**< an extent: negative, too large, or not what the kernel was made for */
    GYRE_EMBEDDED_WORKSPACE_TOO_SMALL = 5, /**< smaller than gyre_embedded_attention_workspace_size() says */
    GYRE_EMBEDDED_INTERNAL = 7             /**< a kernel reported a failure: a defect of the library */
};

/** What a call refuses: an argument's name, and what is wrong with it, such as "k" and "overlaps what is written". Both are NULL
 *  if nothing is wrong. The texts are constants, which only programs have that ask for them. */
typedef struct gyre_embedded_mistake {
    const char *argument; /**< its name */
    const char *problem;  /**< what is wrong with it */
} gyre_embedded_mistake;

/** The types of tensors' elements. */
GYRE_EMBEDDED_ENUM(gyre_embedded_dtype) {
    GYRE_EMBEDDED_F32 = 0, /**< IEEE 754 binary32 */
    GYRE_EMBEDDED_F16 = 1, /**< IEEE 754 binary16 */
    GYRE_EMBEDDED_I8 = 2,  /**< of caches alone: with a scale a row or a head, see gyre_embedded_quantize() */
    GYRE_EMBEDDED_Q15 = 3 /**< of rotary alone: int16 in units of 2^-15, with tables likewise; arithmetic in integers */
};

/** Which two features form pair i. */
GYRE_EMBEDDED_ENUM(gyre_embedded_pairing) {
    GYRE_EMBEDDED_HALF = 0,       /**< (i, i + pairs): ccccssss */
    GYRE_EMBEDDED_INTERLEAVED = 1 /**< (2i, 2i + 1): cscscscs */
};

/** Initialises the first member of a struct, and so all others, to 0; in C++ it may be of any type. */
#ifdef __cplusplus
#define GYRE_EMBEDDED_ZEROS                                                                                            \
    {                                                                                                                  \
    }
#else
#define GYRE_EMBEDDED_ZEROS {0}
#endif

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

/** Does the same in Q15, for kernels that take it, without a scale: rounded to nearest, and 1 is 32767 / 32768. Integers alone.
 *  Within 2^-15. */
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
    uint32_t size;         /**< sizeof(gyre_embedded_rotary_args); gyre_embedded_rotary_defaults() sets it */
    int32_t tokens;        /**< at least 0 */
    int32_t heads;         /**< at least 0 */
    int32_t head_dim;      /**< at least 0 */
    int32_t rotary_dim;    /**< features that are rotated, even; 0: all are copied */
    int32_t rotary_offset; /**< the first of them */
    int32_t reverse;       /**< 1: rotate back; 0: rotate */
    /** The kernel to run. */
    const gyre_embedded_rotary_kernel *kernel;
    /** Heads to rotate: [tokens, heads, head_dim] of kernel->x_dtype, dense. */
    const void *x;
    /** The result: [tokens, heads, head_dim] of kernel->out_dtype, dense. It may be x, if their types are the same. */
    void *out;
    /** [tokens, 2, rotary_dim / 2], see gyre_embedded_angles(), or _q15(); may be NULL if rotary_dim is 0. */
    const void *angles;
} gyre_embedded_rotary_args;

/** Zeros, and the size. */
static inline gyre_embedded_rotary_args gyre_embedded_rotary_defaults(void) {
    gyre_embedded_rotary_args args = GYRE_EMBEDDED_ZEROS;
    args.size = (uint32_t)sizeof args;
    return args;
}

/** Rotates heads, or rotates them back; other features are copied. Where the types differ, all are converted. In Q15, results that
 *  are too large saturate: rotated features may grow by a factor of the square root of 2.
 *  Errors: BAD_ARGUMENT (null, misaligned or overlapping pointers, a value out of range), BAD_SHAPE, INTERNAL. */
gyre_embedded_status gyre_embedded_rotary(const gyre_embedded_rotary_args *args);

/** Does the same without checks, for programs that have tried their arguments by the call above and are short of code. Wrong arguments
 *  overwrite memory. */
gyre_embedded_status gyre_embedded_rotary_unchecked(const gyre_embedded_rotary_args *args);

/** What gyre_embedded_rotary() finds wrong with these arguments. */
gyre_embedded_mistake gyre_embedded_rotary_mistake(const gyre_embedded_rotary_args *args);

/** Rows for a cache in 8 bits: `out` times the row's scale is within half a scale of x. The scale is the row's largest magnitude
 *  divided by 127. A quarter of the memory; what it costs in accuracy is in runtime/embedded/README.md. Keys and values are
 *  rotated in f32 before.
 *    x        [rows, dim]   finite
 *    out      [rows, dim]   -127 .. 127
 *    scales   [rows] */
gyre_embedded_status gyre_embedded_quantize(const float *x, int32_t rows, int32_t dim, int8_t *out, float *scales);

/** Quantises by scales that are known, say a model's, one for each head of the cache: a head's numbers are rounded to multiples of its
 *  scale, and those beyond 127 of them become 127 of them. A head whose scale is 0 becomes zeros.
 *    x        [tokens, heads, dim]   finite
 *    scales   [heads]                at least 0, finite
 *    out      [tokens, heads, dim]   -127 .. 127 */
gyre_embedded_status gyre_embedded_quantize_by_head(const float *x, int32_t tokens, int32_t heads, int32_t dim,
                                                    const float *scales, int8_t *out);

/* ------------------------------------------------------------------------------------------------ attention */

/** A kernel of attention. */
typedef struct gyre_embedded_attention_kernel {
    gyre_embedded_dtype dtype;       /**< of q and out; arithmetic is in f32 */
    gyre_embedded_dtype cache_dtype; /**< of k and v */
    int32_t head_dim;                /**< features of a head */
    int32_t task_rows;               /**< query rows that run at once */
    int32_t key_block;               /**< keys whose scores exist at once */
    int32_t softcap;                 /**< 1: it caps scores if it is asked to; 0: it cannot */
    size_t workspace;                /**< bytes it allocates; 0: its stack suffices */
    int (*call)(void **);            /**< Halide's entry */
} gyre_embedded_attention_kernel;

/** Arguments of gyre_embedded_attention(). */
typedef struct gyre_embedded_attention_args {
    uint32_t size;        /**< sizeof(gyre_embedded_attention_args); gyre_embedded_attention_defaults() sets it */
    int32_t tokens;       /**< queries, at least 0; the last stands at the last key */
    int32_t keys;         /**< keys of the cache, at least 0 */
    int32_t num_heads;    /**< query heads */
    int32_t num_kv_heads; /**< key heads, a divisor of num_heads */
    int32_t head_dim;     /**< features of a head, as the kernel's */
    float scale;          /**< what products of queries and keys are multiplied by; 0: 1 / sqrt(head_dim) */
    int32_t causal;       /**< 1: a query sees keys up to its own; 0: all */
    int32_t window;       /**< above 0: of the keys before its own, a query sees window - 1; 0: all */
    int32_t rotary_dim;   /**< first features of q that are rotated; 0: none */
    int32_t rotary_v_dim; /**< first features of out that are rotated back; 0: none */
    gyre_embedded_pairing pairing;       /**< of q */
    gyre_embedded_pairing value_pairing; /**< of out */
    /** Above 0: scores become softcap * tanh(score / softcap), by kernels with softcap; 0: they do not. */
    float softcap;
    int32_t head_scales; /**< 1: k_scales and v_scales are [num_kv_heads]; 0: [keys, num_kv_heads] */
    /** The kernel to run. */
    const gyre_embedded_attention_kernel *kernel;
    /** The kernel for single rows, one of gyre_attention_row_…, whose task_rows is 1; NULL: `kernel`. */
    const gyre_embedded_attention_kernel *row_kernel;
    /** Queries: [tokens, num_heads, head_dim] of kernel->dtype, dense. */
    const void *q;
    /** Keys: [keys, num_kv_heads, head_dim] of kernel->cache_dtype, dense. Query head h reads head h / (num_heads / num_kv_heads). */
    const void *k;
    /** Values, shaped as k is. */
    const void *v;
    /** Scales of a cache of keys in int8, as head_scales says; NULL with other kernels, for values, too. */
    const float *k_scales;
    /** Scales of the cache of values. */
    const float *v_scales;
    /** The result: [tokens, num_heads, head_dim] of kernel->dtype, dense. It may be q. */
    void *out;
    /** [num_heads, tokens] natural logarithms of the softmax's denominators, -inf where no key is visible; NULL: not wanted. */
    float *lse;
    /** [tokens, 2, rotary_dim / 2] of the queries' positions; may be NULL if rotary_dim is 0. */
    const float *q_angles;
    /** [tokens, 2, rotary_v_dim / 2] of the queries' positions; may be NULL if rotary_v_dim is 0. */
    const float *out_angles;
    /** gyre_embedded_attention_workspace_size() bytes. */
    void *workspace;
    /** Bytes of workspace. */
    size_t workspace_size;
} gyre_embedded_attention_args;

/** Zeros, and the size: every key is visible, and nothing is rotated. */
static inline gyre_embedded_attention_args gyre_embedded_attention_defaults(void) {
    gyre_embedded_attention_args args = GYRE_EMBEDDED_ZEROS;
    args.size = (uint32_t)sizeof args;
    return args;
}

/** Bytes of workspace for any call with this kernel; with a row_kernel, the larger number of the two. The same number is a constant
 *  of gyre/embedded_kernels.h, for arrays and for other machines. */
size_t gyre_embedded_attention_workspace_size(const gyre_embedded_attention_kernel *kernel);

/** Attention over a cache: out_i = R(-i) sum_j softmax_j(scale R(i) q_i · k_j) v_j. k and v are rotated already, as
 *  gyre_embedded_rotary() has written them into a cache. Query i is at key keys - tokens + i: prefill and decoding differ in
 *  `tokens` alone. Where no key is visible, out is 0.
 *
 *  A kernel runs task_rows rows at once: heads of a token that share a head of the cache, else tokens of a head. Where one row is
 *  left alone, most kernels do the work of two. A row_kernel then takes about half the instructions: for the last of an odd number
 *  of heads that share, and for every row where heads do not share. Which kernel a head takes does not depend on `tokens`: decoding
 *  gives the bits of a prefill, with or without a row_kernel. Prompts take fewer instructions without one.
 *  Errors: BAD_ARGUMENT (null, misaligned or overlapping pointers, a value out of range), BAD_SHAPE, WORKSPACE_TOO_SMALL,
 *  INTERNAL. */
gyre_embedded_status gyre_embedded_attention(const gyre_embedded_attention_args *args);

/** Does the same without checks, for programs that have tried their arguments by the call above and are short of code. Wrong arguments
 *  overwrite memory. */
gyre_embedded_status gyre_embedded_attention_unchecked(const gyre_embedded_attention_args *args);

/** What gyre_embedded_attention() finds wrong with these arguments. */
gyre_embedded_mistake gyre_embedded_attention_mistake(const gyre_embedded_attention_args *args);

/** Attention over some of the keys, as gyre_embedded_attention() gives it in f32. */
typedef struct gyre_embedded_part {
    const float *out; /**< [tokens, num_heads, head_dim]; NULL: zeros, so that lse is the score of an attention sink */
    const float *lse; /**< [num_heads, tokens] */
} gyre_embedded_part;

/** Attention over all keys from `count` calls over disjoint sets of them, 1 .. 8, with the same queries: caches in several memories,
 *  a shared prefix, attention sinks. Arithmetic is in f32; a part with no visible key counts for nothing.
 *    out   [tokens, num_heads, head_dim]   it may be a part's
 *    lse   [num_heads, tokens]             it may be a part's; NULL: not wanted
 *  Errors: BAD_ARGUMENT (null, misaligned or overlapping pointers, count), BAD_SHAPE. */
gyre_embedded_status gyre_embedded_attention_merge(const gyre_embedded_part *parts, int32_t count, int32_t tokens,
                                                   int32_t num_heads, int32_t head_dim, float *out, float *lse);

/** A cache of `slots` tokens as a ring, for a sliding window over any number of them. The token at `position`, counted from 0, takes
 *  this slot, over the oldest one's keys, values and scales. Its query then attends with causal = 0, window = 0 and as many keys as
 *  gyre_embedded_ring_keys() says, and sees its own and the slots - 1 before. In which order keys lie does not matter, since they
 *  are rotated by their positions. One token a call. position >= 0, slots > 0. */
static inline int32_t gyre_embedded_ring_slot(int32_t position, int32_t slots) { return position % slots; }

/** How many slots of the ring hold tokens once the one at `position` is in it. */
static inline int32_t gyre_embedded_ring_keys(int32_t position, int32_t slots) {
    return position < slots ? position + 1 : slots;
}

/* ------------------------------------------------------------------------------------------------ layout */

/** Bytes of so many members of 32 bits, and after them so many of a pointer's size. */
#define GYRE_EMBEDDED_BYTES(words, pointers)                                                                           \
    ((4 * (words) + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *) + (pointers) * sizeof(void *))

/** An array type that does not compile unless a struct has its words and pointers and no others, `last` being the last. */
#define GYRE_EMBEDDED_LAYOUT(type, words, first_pointer, pointers, last)                                               \
    typedef char type##_has_another_layout[sizeof(type) == GYRE_EMBEDDED_BYTES(words, pointers) &&                     \
                                                   offsetof(type, first_pointer) == GYRE_EMBEDDED_BYTES(words, 0) &&   \
                                                   offsetof(type, last) == GYRE_EMBEDDED_BYTES(words, (pointers) - 1)  \
                                               ? 1                                                                     \
                                               : -1]

GYRE_EMBEDDED_LAYOUT(gyre_embedded_mistake, 0, argument, 2, problem);
GYRE_EMBEDDED_LAYOUT(gyre_embedded_part, 0, out, 2, lse);
GYRE_EMBEDDED_LAYOUT(gyre_embedded_rotary_kernel, 3, call, 1, call);
GYRE_EMBEDDED_LAYOUT(gyre_embedded_rotary_args, 7, kernel, 4, angles);
GYRE_EMBEDDED_LAYOUT(gyre_embedded_attention_kernel, 6, workspace, 2, call);
GYRE_EMBEDDED_LAYOUT(gyre_embedded_attention_args, 15, kernel, 13, workspace_size);

#ifdef __cplusplus
}
#endif
#endif
