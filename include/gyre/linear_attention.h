/** @file
 *  Linear attention, with RoPE and carried states. */
#ifndef GYRE_LINEAR_ATTENTION_H
#define GYRE_LINEAR_ATTENTION_H

#include "context.h"
#include "rotary.h"
#include "tensor.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Arguments of gyre_linear_attention(). */
typedef struct gyre_linear_attention_args {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** How the dimensions of q, k, v and out are read; the shapes below are those of bshd. Lists are contiguous. */
    gyre_layout layout;
    /** Queries: [batch, seqlen_q, num_heads, head_dim], f32, f16 or bf16; head_dim contiguous, 1 to 512. */
    gyre_tensor q;
    /** Keys: [batch, seqlen_kv, num_kv_heads, head_dim], of q's type; head_dim contiguous; num_kv_heads divides num_heads (GQA, MQA). */
    gyre_tensor k;
    /** Values: [batch, seqlen_kv, num_kv_heads, v_head_dim], of q's type; v_head_dim contiguous, 1 to 512, possibly another size than
     *  head_dim. */
    gyre_tensor v;
    /** The result: [batch, seqlen_q, num_heads, v_head_dim], of q's type. It may be q itself, and overlaps neither k nor v. */
    gyre_tensor out;
    /** 0: every query sees every key. 1: query i sees keys 0 .. i, and seqlen_q == seqlen_kv, of packed sequences each. */
    int32_t causal;
    /** [batch] int32: only the first seqused_k[b] keys exist. NULL: all of them. */
    const gyre_tensor *seqused_k;
    /** [batch + 1] int32, with thd only: the queries of sequence b are the tokens cu_seqlens_q[b] .. cu_seqlens_q[b + 1] - 1. */
    const gyre_tensor *cu_seqlens_q;
    /** [batch + 1] int32, with thd only: the keys of each sequence, as cu_seqlens_q has its queries. */
    const gyre_tensor *cu_seqlens_k;
    /** Rotates the features of q and k in the numerator; NULL: not. */
    const gyre_rope *rope;
    /** Positions of the queries: [batch, seqlen_q] or [seqlen_q] (thd: [total_q]), int32 or int64, at least 0, preceded by [axes] if the
     *  rope has several. NULL: seqlen_kv - seqlen_q + 0, 1, 2 … of each sequence's own lengths; in causal calls 0, 1, 2 …, whatever
     *  seqused_k says. A sequence that goes on from a state needs the positions of both. */
    const gyre_tensor *q_positions;
    /** Positions of the keys, shaped as q_positions are; those of keys that do not exist are not read. NULL: 0, 1, 2 … */
    const gyre_tensor *k_positions;
    /** What earlier calls left of keys that all queries here see, too: the sum of their rotated features times their values,
     *  [batch, num_kv_heads, head_dim, v_head_dim] f32, last dimension contiguous; batch counts sequences with thd. NULL: none. */
    const gyre_tensor *kv_state;
    /** The sum of the same keys' features, [batch, num_kv_heads, head_dim] f32, last dimension contiguous; NULL with kv_state. */
    const gyre_tensor *k_state;
    /** Gets kv_state with the keys of this call; it may be kv_state itself. NULL: not wanted. */
    const gyre_tensor *kv_state_out;
    /** Gets k_state with the keys of this call; it may be k_state itself. NULL with kv_state_out. */
    const gyre_tensor *k_state_out;
    /** Scratch memory of the caller, which overlaps no tensor; NULL: the context's own. */
    void *workspace;
    /** Bytes of workspace; 0 with NULL. */
    size_t workspace_size;
    /** The CUstream or cudaStream_t on which this call is queued if its tensors are on a CUDA device, and no other call; NULL: the
     *  context's cuda_stream. 1 and 2 name the default streams, as gyre/context.h tells. On the CPU it means nothing. */
    void *cuda_stream;
} gyre_linear_attention_args;

/** Arguments without masks, rotations and states; q, k, v and out are to be set. */
static inline gyre_linear_attention_args gyre_linear_attention_defaults(void) {
    gyre_linear_attention_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    return a;
}

/** Linear attention, in time linear in the length:
 *      out_i = sum_j (R(q) phi(q_i)) . (R(k) phi(k_j)) v_j / sum_j phi(q_i) . phi(k_j)       phi(x) = elu(x) + 1
 *  over the keys that query i sees and those of the state. Rotations are in the numerator only, where attention_factor
 *  counts twice. Queries with nothing to see give 0. A key that a query does not see does not reach its result, whatever key and value
 *  hold. For arguments below -44.36 (64 ln 2) phi is 2^-64, 5.4e-20. On arm_32_neon, whose vectors have no numbers below 1e-38, phi is
 *  2^-52, 2.2e-16, for arguments below -36.04 (52 ln 2).
 *  A sequence may be given in pieces, down to single tokens, each of which continues from the state that the one before left. The
 *  results are those of one call up to rounding. They are the same bits if the lengths of all pieces but the last are multiples of
 *  the kernel's chunk of tokens ("rows" of `gyre kernels`). Arithmetic and sums are in f32 for every type. The bits of the result do
 *  not depend on the number of threads.
 *  On a CUDA device all tensors, lists and positions are in its memory, and launches are queued on cuda_stream. What lists and
 *  positions hold is not checked, only kept within bounds. A workspace is memory of the device; with NULL the memory comes from a pool of
 *  the context. Rotated queries of a call that is not causal need q_positions there if seqused_k or cu_seqlens_q are given.
 *  Sources: Katharopoulos et al., Transformers are RNNs, arXiv:2006.16236; Su et al., RoFormer, arXiv:2104.09864, eq. 19.
 *  Errors: as gyre_rotary(), each naming the argument. */
GYRE_API gyre_status gyre_linear_attention(gyre_context *context, const gyre_linear_attention_args *args);

/** Bytes of workspace that gyre_linear_attention() with these arguments and this context needs; data pointers may be NULL. */
GYRE_API gyre_status gyre_linear_attention_workspace_size(gyre_context *context, const gyre_linear_attention_args *args,
                                                          size_t *bytes);

GYRE_GROWING_LAYOUT(gyre_linear_attention_args, cuda_stream, 472, 464, 384, 380);

#ifdef __cplusplus
}
#endif
#endif
