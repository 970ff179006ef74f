/** Attention over disjoint sets of keys, merged. */
#ifndef GYRE_ATTENTION_MERGE_H
#define GYRE_ATTENTION_MERGE_H

#include "context.h"
#include "tensor.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Arguments of gyre_attention_merge().   Layout bshd; bhsd and thd swap the dimensions as gyre_layout says.
 *    part_out   what gyre_attention() gave as out for part 0: [batch, seqlen, num_heads, v_head_dim]; f32, f16 or bf16;
 *               head_dim contiguous, 1..512. The out of part p begins p * part_out_stride elements later
 *    part_lse   its lse: [batch, num_heads, seqlen] f32 ([num_heads, total] for thd), last dimension contiguous; of part p
 *               p * part_lse_stride elements later; -inf: the part sees no key, and its out is not read for this row
 *    parts      how many, >= 0
 *    out        part_out's shape; part_out's type, or any if that is f32
 *    lse        part_lse's shape, or NULL.   out and lse must not overlap each other or any part
 *    workspace  NULL: the context's own memory */
typedef struct gyre_attention_merge_args {
    uint32_t size;
    gyre_layout layout;
    int32_t parts;
    gyre_tensor part_out, part_lse;
    int64_t part_out_stride, part_lse_stride; /* elements, >= 0 */
    gyre_tensor out;
    const gyre_tensor *lse;
    void *workspace;
    size_t workspace_size; /* bytes */
} gyre_attention_merge_args;

static inline gyre_attention_merge_args gyre_attention_merge_defaults(void) {
    gyre_attention_merge_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    return a;
}

/** Merges attention of the same queries over disjoint sets of keys into attention over all of them:
 *      lse = log sum_p exp(lse_p),   out = sum_p exp(lse_p - lse) out_p
 *  in f32. A row that no part sees gives 0 and lse -inf; no parts, too. For keys that lie on several machines, or that a
 *  caller divides among tasks of its own. Sinks must have joined one part's denominator only. Tensors on a CUDA device (all
 *  of them): one launch on the context's cuda_stream, without workspace.
 *  Errors: as gyre_rotary(), each naming the argument. */
GYRE_API gyre_status gyre_attention_merge(gyre_context *context, const gyre_attention_merge_args *args);

/** Bytes of workspace that gyre_attention_merge() with these arguments and this context needs; data pointers may be
 *  NULL. */
GYRE_API gyre_status gyre_attention_merge_workspace_size(gyre_context *context, const gyre_attention_merge_args *args,
                                                         size_t *bytes);

GYRE_LAYOUT(gyre_attention_merge_args, workspace_size, 320, 312, 288, 280);

#ifdef __cplusplus
}
#endif
#endif
