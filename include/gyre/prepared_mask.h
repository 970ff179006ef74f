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

/** Looks at the mask of an attention call once for all calls that have the same, as the layers of a model do: which keys each query
 *  sees first and last, and whether it sees all between them. Put `memory` into gyre_attention_args.prepared_mask, `size` beside it. It serves calls
 *  whose batch, num_heads, seqlen_q, seqlen_kv, mask (extents, strides and bytes, wherever these lie), causal, window, alignment and
 *  seqused_k are those of `args`; all else may differ. Other calls are refused, but for another mask's bytes, which is not noticed.
 *  `memory`: `size` bytes, at least as many as gyre_mask_prepare_size() says, aligned to 8 bytes; no other memory of the
 *  call, and not to be written until the last call that reads it. It may be moved, and needs no release.
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
