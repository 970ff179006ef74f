/** @file
 *  Gradients of attention. */
#ifndef GYRE_ATTENTION_BACKWARD_H
#define GYRE_ATTENTION_BACKWARD_H

#include "attention.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Arguments of gyre_attention_backward(). Layout and options are those of the forward call. */
typedef struct gyre_attention_backward_args {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** What gyre_attention() was called with: q, k, v, and its results out and lse, which it must have written. Here lse is not
     *  optional, and out is not q itself. mask, sinks, score and page_table are NULL; dropout, seed and offset are the forward
     *  call's. The workspace is not used. */
    const gyre_attention_args *forward;
    /** dO, of out's shape and type; head_dim contiguous. */
    gyre_tensor out_grad;
    /** dQ, of q's shape and type; written, whatever it held; head_dim contiguous. It overlaps neither other gradients nor anything
     *  that is read, as k_grad and v_grad do not. */
    gyre_tensor q_grad;
    /** dK, of k's shape and type. */
    gyre_tensor k_grad;
    /** dV, of v's shape and type. */
    gyre_tensor v_grad;
    /** Scratch memory of the caller, which overlaps no tensor; it is linear in the sequences' lengths. NULL: the context's own. */
    void *workspace;
    /** Bytes of workspace; 0 with NULL. */
    size_t workspace_size;
    /** The bias's gradient, of its shape, f32 whatever its type, last dimension contiguous; NULL: not wanted. It sums over whatever
     *  the bias is repeated for: where batch entries or heads share one, a single thread does all of them. */
    const gyre_tensor *bias_grad;
    /** The CUstream or cudaStream_t on which this call is queued if its tensors are on a CUDA device, and no other call; NULL: the
     *  context's cuda_stream. 1 and 2 name the default streams, as gyre/context.h tells. On the CPU it means nothing. */
    void *cuda_stream;
} gyre_attention_backward_args;

/** Arguments to be filled: forward, out_grad and the gradients. */
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

GYRE_GROWING_LAYOUT(gyre_attention_backward_args, cuda_stream, 400, 392, 344, 340);

#ifdef __cplusplus
}
#endif
#endif
