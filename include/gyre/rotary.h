/** Rotary embeddings (RoPE) of queries and keys. */
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

/** Which two features form pair i.   half: (i, i + rotary_dim/2), ccccssss;   interleaved: (2i, 2i + 1), cscscscs. */
GYRE_ENUM(gyre_pairing) {
    GYRE_HALF = 0,
    GYRE_INTERLEAVED = 1
};

/** The exponent's denominator D in theta^(-2i / D): mixing the two silently ruins a model, hence explicit. */
GYRE_ENUM(gyre_frequency_base) {
    GYRE_OVER_ROTARY_DIM = 0,
    GYRE_OVER_HEAD_DIM = 1
};

/** M-RoPE: which position axis pair i reads.   contiguous: sections[0] pairs of axis 0, then sections[1] of axis 1, …
 *  interleaved: pair i reads axis i % axes while i < axes * sections[i % axes], else axis 0. */
GYRE_ENUM(gyre_section_order) {
    GYRE_SECTIONS_CONTIGUOUS = 0,
    GYRE_SECTIONS_INTERLEAVED = 1
};

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
 *    reverse     0: rotate, 1: rotate back (the transpose); nothing else
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

GYRE_LAYOUT(gyre_rope, section_order, 88, 84, 72, 68);
GYRE_LAYOUT(gyre_rotary_args, workspace_size, 312, 304, 264, 260);
GYRE_LAYOUT(gyre_rotary_qk_args, workspace_size, 488, 480, 424, 420);

#ifdef __cplusplus
}
#endif
#endif
