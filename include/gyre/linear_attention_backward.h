/** Gradients of linear attention. */
#ifndef GYRE_LINEAR_ATTENTION_BACKWARD_H
#define GYRE_LINEAR_ATTENTION_BACKWARD_H

#include "linear_attention.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

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

GYRE_LAYOUT(gyre_linear_attention_backward_args, workspace_size, 416, 408, 352, 348);

#ifdef __cplusplus
}
#endif
#endif
