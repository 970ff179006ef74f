/** @file
 *  Rotary embeddings (RoPE) of queries and keys. */
#ifndef GYRE_ROTARY_H
#define GYRE_ROTARY_H

#include "context.h"
#include "tensor.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which two features form pair i. */
GYRE_ENUM(gyre_pairing) {
    GYRE_HALF = 0,       /**< (i, i + rotary_dim / 2): ccccssss */
    GYRE_INTERLEAVED = 1 /**< (2i, 2i + 1): cscscscs */
};

/** The exponent's denominator D in theta^(-2i / D): mixing the two silently ruins a model, hence explicit. */
GYRE_ENUM(gyre_frequency_base) {
    GYRE_OVER_ROTARY_DIM = 0, /**< D = rotary_dim */
    GYRE_OVER_HEAD_DIM = 1    /**< D = head_dim */
};

/** Which axis of positions pair i reads (M-RoPE). */
GYRE_ENUM(gyre_section_order) {
    GYRE_SECTIONS_CONTIGUOUS = 0, /**< sections[0] pairs read axis 0, then sections[1] pairs axis 1, … */
    GYRE_SECTIONS_INTERLEAVED = 1 /**< pair i reads axis i % axes while i < axes * sections[i % axes], else axis 0 */
};

/** The most axes that positions have. */
#define GYRE_MAX_AXES 4

/** A rotation of the features [rotary_offset, rotary_offset + rotary_dim) of a head. Pair i has the features p and q:
 *
 *      out[p] = s * (x[p] cos a - x[q] sin a)        a = position * inv_freq[i], radians, reduced in double
 *      out[q] = s * (x[q] cos a + x[p] sin a)        source: Su et al., RoFormer, arXiv:2104.09864, section 3.2.2
 *
 *  Angles come from the tables cos and sin, else from inv_freq, else from theta. */
typedef struct gyre_rope {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** Which features form a pair. */
    gyre_pairing pairing;
    /** Rotated features, even; 0: the head from rotary_offset to its end. */
    int32_t rotary_dim;
    /** The first rotated feature; attention accepts 0 only. */
    int32_t rotary_offset;
    /** Base of the frequencies, at least 1; the defaults say 10000. */
    double theta;
    /** What theta's exponent is divided by. */
    gyre_frequency_base frequency_base;
    /** [rotary_dim / 2] radians a token, or NULL; see gyre_frequencies(). Their magnitudes are at most 1024; above 1 they lower the
     *  largest position to 2^31 / the largest of them. */
    const double *inv_freq;
    /** The factor s, 1 by default. It multiplies cos and sin of queries and keys, never of values or of given tables. */
    double attention_factor;
    /** Table of cosines: f32, f16, bf16 or f64, any strides, one axis only, or NULL. [rows, rotary_dim / 2] is read at the position;
     *  [batch or 1, seqlen, rotary_dim / 2] has a row a token (not in attention; positions are then not read). On CUDA devices
     *  tables are f32, their last dimension contiguous. */
    const gyre_tensor *cos;
    /** Table of sines, of cos's shape and type; NULL with it. */
    const gyre_tensor *sin;
    /** 0 or 1: a token has one position; 2 to 4: positions are [axes, batch, seqlen]. */
    int32_t axes;
    /** [axes] numbers of pairs that read each axis; their sum is rotary_dim / 2. */
    int32_t sections[GYRE_MAX_AXES];
    /** How sections are spread over the pairs. */
    gyre_section_order section_order;
} gyre_rope;

/** A rotation of the whole head with half pairing and theta 10000. */
static inline gyre_rope gyre_rope_defaults(void) {
    gyre_rope r;
    memset(&r, 0, sizeof r);
    r.size = (uint32_t)sizeof r;
    r.theta = 10000.0;
    r.attention_factor = 1.0;
    return r;
}

/** Arguments of gyre_rotary(). */
typedef struct gyre_rotary_args {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** How the dimensions of x and out are read; batch is 1 for thd. */
    gyre_layout layout;
    /** What is rotated: layout's shape, f32, f16 or bf16, head_dim contiguous. */
    gyre_tensor x;
    /** The result, of x's shape and type; head_dim contiguous. It may be x, and else does not overlap it. */
    gyre_tensor out;
    /** The rotation. */
    gyre_rope rope;
    /** 0: rotate; 1: rotate back, which is the transpose. */
    int32_t reverse;
    /** [batch, seqlen] or [seqlen], int32 or int64, in tokens, 0 <= position < 2^31; with rope.axes above 1 [axes, batch, seqlen] or
     *  [axes, seqlen]. NULL: position_offset + 0, 1, 2, … */
    const gyre_tensor *positions;
    /** The first token's position, at least 0; 0 where positions are given. */
    int64_t position_offset;
    /** Scratch memory of the caller, which overlaps no tensor; NULL: the context's own. */
    void *workspace;
    /** Bytes of workspace; 0 with NULL. */
    size_t workspace_size;
    /** The CUstream or cudaStream_t on which this call is queued if its tensors are on a CUDA device, and no other call; NULL: the
     *  context's cuda_stream. 1 and 2 name the default streams, as gyre/context.h tells. On the CPU it means nothing. */
    void *cuda_stream;
    /** NULL. Fills the structure up on every processor, so that members of later versions begin behind what a caller of this one has. */
    const void *reserved;
} gyre_rotary_args;

/** Arguments that rotate from position 0 on by gyre_rope_defaults(); x and out are to be set. */
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
 *  Tensors on a CUDA device (all of them, positions and tables too) are rotated there, in f32 as well: launches are queued on
 *  cuda_stream, in the caller's current CUDA context if it is of that device, else in its primary one, and nothing is
 *  waited for. The first call loads kernels; make it before a stream is captured. Positions are not checked, and may be
 *  negative; rows of tables are clamped. At most 512 rotated features; no workspace.
 *  Errors then: UNSUPPORTED (a tensor on the CPU beside others on the device; no driver, or a device below compute
 *  capability 8.0), BAD_ARGUMENT (memory that is not the device's, or ends before the tensor), INTERNAL (the driver's
 *  error, also one of earlier work on the device). */
GYRE_API gyre_status gyre_rotary(gyre_context *context, const gyre_rotary_args *args);

/** Bytes of workspace that gyre_rotary() with these arguments and this context needs; the data pointers may be NULL. */
GYRE_API gyre_status gyre_rotary_workspace_size(gyre_context *context, const gyre_rotary_args *args, size_t *bytes);

/** Arguments of gyre_rotary_qk(): queries and keys of the same tokens. */
typedef struct gyre_rotary_qk_args {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** How the dimensions of all four tensors are read; batch is 1 for thd. */
    gyre_layout layout;
    /** Queries: layout's shape with num_heads, f32, f16 or bf16, head_dim contiguous. */
    gyre_tensor q;
    /** Keys: q's shape but for num_kv_heads, and q's type. */
    gyre_tensor k;
    /** Rotated queries, of q's shape and type. They may be q, and else overlap neither q nor k. */
    gyre_tensor q_out;
    /** Rotated keys, of k's shape and type. They may be k, and else overlap neither q, k nor q_out. */
    gyre_tensor k_out;
    /** The rotation. */
    gyre_rope rope;
    /** 0: rotate; 1: rotate back, which is the transpose. */
    int32_t reverse;
    /** [batch, seqlen] or [seqlen], int32 or int64, in tokens, 0 <= position < 2^31; with rope.axes above 1 [axes, batch, seqlen] or
     *  [axes, seqlen]. NULL: position_offset + 0, 1, 2, … */
    const gyre_tensor *positions;
    /** The first token's position, at least 0; 0 where positions are given. */
    int64_t position_offset;
    /** Scratch memory of the caller, which overlaps no tensor; NULL: the context's own. */
    void *workspace;
    /** Bytes of workspace; 0 with NULL. */
    size_t workspace_size;
    /** The CUstream or cudaStream_t on which this call is queued if its tensors are on a CUDA device, and no other call; NULL: the
     *  context's cuda_stream. 1 and 2 name the default streams, as gyre/context.h tells. On the CPU it means nothing. */
    void *cuda_stream;
    /** NULL. Fills the structure up on every processor, so that members of later versions begin behind what a caller of this one has. */
    const void *reserved;
} gyre_rotary_qk_args;

/** Arguments that rotate from position 0 on by gyre_rope_defaults(); the tensors are to be set. */
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

GYRE_LAYOUT(gyre_rope, section_order, 88, 84, 72, 68);
GYRE_GROWING_LAYOUT(gyre_rotary_args, reserved, 328, 320, 272, 268);
GYRE_GROWING_LAYOUT(gyre_rotary_qk_args, reserved, 504, 496, 432, 428);

#ifdef __cplusplus
}
#endif
#endif
