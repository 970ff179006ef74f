/** @file
 *  Masks of gyre_attention() that are looked at once for many calls. */
#ifndef GYRE_PREPARED_MASK_H
#define GYRE_PREPARED_MASK_H

#include "attention.h"
#include "context.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads the mask of an attention call once, for all calls that have the same mask, such as those of a model's layers. It notes which
 *  keys each query sees first and last, and whether it sees all between them. Set gyre_attention_args.prepared_mask to `memory` and
 *  prepared_mask_size to `size`. That serves calls whose batch, num_heads, seqlen_q, seqlen_kv, mask (extents, strides and bytes,
 *  wherever these lie), causal, window, alignment and seqused_k are those of `args`; all else may differ. Other calls are refused,
 *  except that other bytes in the mask are not noticed.
 *  `memory`: `size` bytes, at least as many as gyre_mask_prepare_size() says, aligned to 8 bytes. It overlaps no other memory of the
 *  call, and must not be written until the last call that reads it. It may be moved, and needs no release.
 *  q, k, v and out of `args` are not read or written, and their data may be NULL.
 *  Errors: as gyre_attention(), and UNSUPPORTED for a mask whose last dimension is not contiguous or that is on a device. */
GYRE_API gyre_status gyre_mask_prepare(gyre_context *context, const gyre_attention_args *args, void *memory,
                                       size_t size);

/** Bytes of memory that gyre_mask_prepare() with these arguments writes: 12 for each row of the mask, and at most 256 beside 4 for
 *  each of seqused_k. Data pointers may be NULL. */
GYRE_API gyre_status gyre_mask_prepare_size(const gyre_attention_args *args, size_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
