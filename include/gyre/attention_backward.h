/** Gradients of attention. */
#ifndef GYRE_ATTENTION_BACKWARD_H
#define GYRE_ATTENTION_BACKWARD_H

#include "attention.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

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

GYRE_LAYOUT(gyre_attention_backward_args, bias_grad, 392, 384, 344, 336);

#ifdef __cplusplus
}
#endif
#endif
