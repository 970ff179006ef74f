/** Linear attention, with RoPE and carried states. */
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
 *  counts twice. Queries with nothing to see give 0. Features of arguments below -44.36, 64 ln 2, are 2^-64, 5.4e-20; on
 *  arm_32_neon, whose vectors have no numbers below 1e-38, those below -36.04, 52 ln 2, are 2^-52, 2.2e-16. A value that
 *  is no number shows in causal queries shortly before it, too.
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

GYRE_LAYOUT(gyre_linear_attention_args, workspace_size, 464, 456, 384, 376);

#ifdef __cplusplus
}
#endif
#endif
