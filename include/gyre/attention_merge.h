/** @file
 *  Attention over disjoint sets of keys, merged. */
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

/** Arguments of gyre_attention_merge(). */
typedef struct gyre_attention_merge_args {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** How the dimensions of part_out and out are read; the shapes below are those of bshd. */
    gyre_layout layout;
    /** The number of parts, at least 0. */
    int32_t parts;
    /** What gyre_attention() gave as out for part 0: [batch, seqlen, num_heads, v_head_dim], f32, f16 or bf16; v_head_dim contiguous,
     *  1 to 512. */
    gyre_tensor part_out;
    /** Part 0's lse: [batch, num_heads, seqlen] f32 ([num_heads, total] for thd), last dimension contiguous. -inf: the part sees no key,
     *  and its out is not read for this row. */
    gyre_tensor part_lse;
    /** Elements from one part's out to the next part's, at least 0. */
    int64_t part_out_stride;
    /** Elements from one part's lse to the next part's, at least 0. */
    int64_t part_lse_stride;
    /** The result: part_out's shape, and its type, or any if that is f32. It overlaps neither lse nor any part. */
    gyre_tensor out;
    /** The lse of all keys, of part_lse's shape; NULL: not wanted. It overlaps neither out nor any part. */
    const gyre_tensor *lse;
    /** Scratch memory of the caller, which overlaps no tensor; NULL: the context's own. */
    void *workspace;
    /** Bytes of workspace; 0 with NULL. */
    size_t workspace_size;
    /** The CUstream or cudaStream_t on which this call is queued if its tensors are on a CUDA device, and no other call; NULL: the
     *  context's cuda_stream. 1 and 2 name the default streams, as gyre/context.h tells. On the CPU it means nothing. */
    void *cuda_stream;
} gyre_attention_merge_args;

/** Arguments to be filled: parts, their tensors and strides, and out. */
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
 *  of them): one launch on cuda_stream, without workspace.
 *  Errors: as gyre_rotary(), each naming the argument. */
GYRE_API gyre_status gyre_attention_merge(gyre_context *context, const gyre_attention_merge_args *args);

/** Bytes of workspace that gyre_attention_merge() with these arguments and this context needs; data pointers may be
 *  NULL. */
GYRE_API gyre_status gyre_attention_merge_workspace_size(gyre_context *context, const gyre_attention_merge_args *args,
                                                         size_t *bytes);

GYRE_GROWING_LAYOUT(gyre_attention_merge_args, cuda_stream, 328, 320, 288, 284);

#ifdef __cplusplus
}
#endif
#endif
