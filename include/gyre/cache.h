/** Caches of keys and values that grow: rotated, converted and written in one pass. */
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

/** Arguments of gyre_cache_append().   Layouts bshd; bhsd and thd swap the dimensions as gyre_layout says; lists are
 *  contiguous.
 *    k, v           new tokens, [batch, seqlen, num_kv_heads, head_dim] and v_head_dim; f32, f16 or bf16, both the same
 *    k_cache,       [batch, capacity, num_kv_heads, head_dim] and v_head_dim, in cache_layout, bshd or bhsd. k's type, or
 *    v_cache        f16 or bf16 if that is f32; both the same. Must not overlap each other, k or v; the two may be slots
 *                   of one array, such as [num_pages, 2, page_size, num_kv_heads, head_dim]
 *    cu_seqlens_k   [batch + 1] int32, thd only: sequence b is tokens cu_seqlens_k[b] .. cu_seqlens_k[b + 1] - 1 of k, v
 *    cache_seqlens  [batch] int32: keys that each sequence has in the cache; NULL: none. New token i of sequence b becomes
 *                   key cache_seqlens[b] + i. The list is only read: what attention is given as seqused_k is the sum
 *    page_table     [batch, max_pages] int32 or NULL: the caches are pools of pages, as gyre_attention()'s k and v:
 *                   [num_pages, page_size, num_kv_heads, dim] (bhsd: [num_pages, num_kv_heads, page_size, dim]), and key
 *                   j of sequence b is slot j % page_size of page page_table[b, j / page_size]. Only entries of pages that
 *                   are written are looked up; sequences may share a page where they write none of its slots twice
 *    rope           rotates k, NULL: not;   value_rope: RoPER, rotates v, NULL: not. Any window of features, though
 *                   gyre_attention() takes the first ones only
 *    positions      [batch, seqlen] or [seqlen] (thd: [total]), int32 or int64, >= 0, preceded by [axes] if the ropes
 *                   have several, which must then be as many for both; NULL: keys stand where their slots are,
 *                   cache_seqlens[b] + 0, 1, 2 …, as gyre_attention() has it
 *    value_order    GYRE_VALUES_IN_BLOCKS: so v_cache keeps values; to rearrange a cache, append its keys and values to
 *                   an empty one
 *    workspace      NULL: the context's own memory */
typedef struct gyre_cache_append_args {
    uint32_t size;
    gyre_layout layout, cache_layout;
    gyre_tensor k, v, k_cache, v_cache;
    const gyre_tensor *cu_seqlens_k;
    const gyre_tensor *cache_seqlens;
    const gyre_tensor *page_table;
    const gyre_rope *rope;
    const gyre_rope *value_rope;
    const gyre_tensor *positions;
    void *workspace;
    size_t workspace_size; /* bytes */
    gyre_value_order value_order;
} gyre_cache_append_args;

static inline gyre_cache_append_args gyre_cache_append_defaults(void) {
    gyre_cache_append_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    return a;
}

/** Rotates new keys and values, converts them to the cache's type and writes them into a cache that gyre_attention()
 *  then reads with keys_rotated and values_rotated, in one pass over the tokens: angles are formed once a token if both
 *  ropes have the same. Slots of other keys stay as they are. The bits are those of gyre_rotary() where types are the same;
 *  else the f32 result is rounded to nearest even. What is not rotated is copied bit for bit, or rounded. Where the
 *  processor rounds to bf16 (targets x86_64_avx512_bf16 and x86_64_amx), a subnormal number that is rounded becomes 0.
 *  value_rope's attention_factor is not applied.
 *  Tensors on a CUDA device (all of them, lists and positions too): a launch for keys and one for values on the context's
 *  cuda_stream, without workspace. What lists hold is not checked: a token that the cache has no room for, or in a page that
 *  the pool does not have, is not written; a slot that is written twice holds either. Not there: value_order.
 *  Errors: as gyre_rotary(), each naming the argument; BAD_ARGUMENT also for more tokens than the cache has room for, a
 *  page that the pool does not have, and a slot that would be written twice. */
GYRE_API gyre_status gyre_cache_append(gyre_context *context, const gyre_cache_append_args *args);

/** Bytes of workspace that gyre_cache_append() with these arguments and this context needs; data pointers may be NULL. */
GYRE_API gyre_status gyre_cache_append_workspace_size(gyre_context *context, const gyre_cache_append_args *args,
                                                      size_t *bytes);

GYRE_LAYOUT(gyre_cache_append_args, value_order, 440, 432, 376, 368);

#ifdef __cplusplus
}
#endif
#endif
