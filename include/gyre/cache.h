/** @file
 *  Caches of keys and values that grow: rotated, converted and written in one pass. */
#ifndef GYRE_CACHE_H
#define GYRE_CACHE_H

#include "context.h"
#include "rotary.h"
#include "tensor.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Arguments of gyre_cache_append(). */
typedef struct gyre_cache_append_args {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** The order of the dimensions of k and v; the shapes below are for bshd. Lists are contiguous. */
    gyre_layout layout;
    /** The order of the dimensions of the caches: GYRE_BSHD or GYRE_BHSD. */
    gyre_layout cache_layout;
    /** New keys: [batch, seqlen, num_kv_heads, head_dim], f32, f16 or bf16; head_dim contiguous. */
    gyre_tensor k;
    /** New values: [batch, seqlen, num_kv_heads, v_head_dim], of k's type; v_head_dim contiguous. */
    gyre_tensor v;
    /** The cache of keys: [batch, capacity, num_kv_heads, head_dim], of k's type; if k is f32, f16 or bf16 as well. It overlaps neither
     *  k, v nor v_cache, but both caches may be slots of one array, such as [num_pages, 2, page_size, num_kv_heads, head_dim]. */
    gyre_tensor k_cache;
    /** The cache of values: [batch, capacity, num_kv_heads, v_head_dim], of k_cache's type. */
    gyre_tensor v_cache;
    /** [batch + 1] int32, with thd only: sequence b is the tokens cu_seqlens_k[b] .. cu_seqlens_k[b + 1] - 1 of k and v. */
    const gyre_tensor *cu_seqlens_k;
    /** [batch] int32: how many keys each sequence already has in the cache. New token i of sequence b becomes key cache_seqlens[b] + i.
     *  The list is only read: the seqused_k that attention needs afterwards is the sum of old and new keys. NULL: the caches are
     *  empty. */
    const gyre_tensor *cache_seqlens;
    /** [batch, max_pages] int32: the caches are pools of pages, as gyre_attention()'s k and v are: [num_pages, page_size, num_kv_heads,
     *  dim] (bhsd: [num_pages, num_kv_heads, page_size, dim]), and key j of sequence b is slot j % page_size of page
     *  page_table[b, j / page_size]. Only entries of pages that are written are looked up. Sequences may share a page if no slot of it
     *  is written twice. NULL: no pages. */
    const gyre_tensor *page_table;
    /** The rotation of k; NULL: none. It may be of any window of features, though gyre_attention() takes the first ones only. */
    const gyre_rope *rope;
    /** RoPER: the rotation of v; NULL: none. Its attention_factor is not applied. */
    const gyre_rope *value_rope;
    /** Positions of the new tokens: [batch, seqlen] or [seqlen] (thd: [total]), int32 or int64, at least 0. If the ropes have several
     *  axes, as many in both, [axes] comes first. NULL: positions are those of the slots, cache_seqlens[b] + 0, 1, 2 …, which is what
     *  gyre_attention() assumes, too. */
    const gyre_tensor *positions;
    /** Scratch memory of the caller, which overlaps no tensor; NULL: the context's own. */
    void *workspace;
    /** Bytes of workspace; 0 with NULL. */
    size_t workspace_size;
    /** GYRE_VALUES_IN_BLOCKS: v_cache keeps values in blocks. To rearrange a cache, append its keys and values to an empty one. */
    gyre_value_order value_order;
    /** The CUstream or cudaStream_t on which this call is queued if its tensors are on a CUDA device, and no other call; NULL: the
     *  context's cuda_stream. 1 and 2 name the default streams, as gyre/context.h tells. On the CPU it means nothing. */
    void *cuda_stream;
} gyre_cache_append_args;

/** Arguments without rotations; k, v and the caches are to be set. */
static inline gyre_cache_append_args gyre_cache_append_defaults(void) {
    gyre_cache_append_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    return a;
}

/** Rotates new keys and values, converts them to the cache's type and writes them into the cache, in one pass over the tokens.
 *  gyre_attention() then reads the cache with keys_rotated and values_rotated. Angles are formed once per token if both ropes
 *  have the same. Slots of other keys stay as they are. If types are the same, the bits are those of gyre_rotary();
 *  otherwise the f32 result is rounded to nearest even. What is not rotated is copied bit for bit, or rounded. Where the
 *  processor rounds to bf16 (targets x86_64_avx512_bf16 and x86_64_amx), a subnormal number that is rounded becomes 0.
 *  Tensors on a CUDA device (all of them, lists and positions too): a launch for keys and one for values on
 *  cuda_stream, without workspace. What lists hold is not checked: a token is not written if the cache has no room for it or the
 *  pool does not have its page, and a slot that is written twice holds either token. value_order is unsupported there.
 *  Errors: as gyre_rotary(), each naming the argument; BAD_ARGUMENT also for more tokens than the cache has room for, a
 *  page that the pool does not have, and a slot that would be written twice. */
GYRE_API gyre_status gyre_cache_append(gyre_context *context, const gyre_cache_append_args *args);

/** Bytes of workspace that gyre_cache_append() with these arguments and this context needs; data pointers may be NULL. */
GYRE_API gyre_status gyre_cache_append_workspace_size(gyre_context *context, const gyre_cache_append_args *args,
                                                      size_t *bytes);

GYRE_GROWING_LAYOUT(gyre_cache_append_args, cuda_stream, 448, 440, 376, 372);

#ifdef __cplusplus
}
#endif
#endif
