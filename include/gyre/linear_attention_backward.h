/** @file
 *  Gradients of linear attention. */
#ifndef GYRE_LINEAR_ATTENTION_BACKWARD_H
#define GYRE_LINEAR_ATTENTION_BACKWARD_H

#include "linear_attention.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Arguments of gyre_linear_attention_backward(). Layout and options are those of the forward call. */
typedef struct gyre_linear_attention_backward_args {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** What gyre_linear_attention() was called with: q, k, v, and the states as they were before. Its out, kv_state_out, k_state_out and
     *  workspace are not looked at. */
    const gyre_linear_attention_args *forward;
    /** The gradient of out, of its shape and type; head_dim contiguous. */
    gyre_tensor out_grad;
    /** The gradient of q, of its shape and type; written, whatever it held; head_dim contiguous. It overlaps neither other gradients nor
     *  anything that is read, as k_grad and v_grad do not. */
    gyre_tensor q_grad;
    /** The gradient of k, of its shape and type. */
    gyre_tensor k_grad;
    /** The gradient of v, of its shape and type. */
    gyre_tensor v_grad;
    /** The gradient of what the call left as kv_state_out, of its shape, f32; NULL: 0. */
    const gyre_tensor *kv_state_out_grad;
    /** The gradient of what the call left as k_state_out, of its shape, f32; NULL with kv_state_out_grad. */
    const gyre_tensor *k_state_out_grad;
    /** The gradient of kv_state, written; NULL: not wanted. */
    const gyre_tensor *kv_state_grad;
    /** The gradient of k_state, written; NULL with kv_state_grad. */
    const gyre_tensor *k_state_grad;
    /** Scratch memory of the caller, which overlaps no tensor; it is linear in the sequences' lengths. NULL: the context's own. */
    void *workspace;
    /** Bytes of workspace; 0 with NULL. */
    size_t workspace_size;
} gyre_linear_attention_backward_args;

/** Arguments to be filled: forward, out_grad and the gradients. */
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

GYRE_GROWING_LAYOUT(gyre_linear_attention_backward_args, workspace_size, 416, 408, 352, 348);

#ifdef __cplusplus
}
#endif
#endif
