/** Fused attention, with RoPE and RoPER. */
#ifndef GYRE_ATTENTION_H
#define GYRE_ATTENTION_H

#include "context.h"
#include "rotary.h"
#include "tensor.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where row i of the queries stands among the keys, for causal, window and ALiBi:
 *  bottom_right: pos_q = i + seqlen_kv - seqlen_q (the last query sees the last key); top_left: pos_q = i; pos_k = j. */
GYRE_ENUM(gyre_alignment) {
    GYRE_BOTTOM_RIGHT = 0,
    GYRE_TOP_LEFT = 1
};

/** A tensor that a score function asks for by name: what it says of it, with [batch, num_heads] before, either of which
 *  may be 1, and 1s in front may be left out. f32 or int32, any strides. An extent that the function declares as that of
 *  the queries or keys is seqlen_q or seqlen_kv. thd: entry b belongs to sequence b, unless an extent is that of queries
 *  or keys: this one then counts the tokens of all sequences, and the first extent is 1. */
typedef struct gyre_score_input {
    const char *name;
    gyre_tensor tensor; /* must not overlap out or lse */
} gyre_score_input;

/** Arguments of gyre_attention().   Layout bshd; bhsd and thd swap the dimensions as gyre_layout says; lists are
 *  contiguous.
 *    q          [batch, seqlen_q, num_heads, head_dim]        f32, f16 or bf16, all four the same; contiguous, 1..512
 *    k          [batch, seqlen_kv, num_kv_heads, head_dim]    num_heads % num_kv_heads == 0 (GQA, MQA)
 *    v          [batch, seqlen_kv, num_kv_heads, v_head_dim]  v_head_dim 1..512, may differ from head_dim
 *    out        [batch, seqlen_q, num_heads, v_head_dim]      must not overlap q, k or v; it may be q itself
 *    lse        [batch, num_heads, seqlen_q] f32 ([num_heads, total_q] for thd), last dimension contiguous, or NULL:
 *               log of the softmax denominator, natural, sink included; -inf where nothing is visible
 *    scale      of the scores; 0 counts as not given: 1 / sqrt(head_dim)
 *    softcap    > 0: scores become softcap * tanh(score / softcap), before bias and masks
 *    window     pos_q - window_left <= pos_k <= pos_q + window_right, -1: unbounded; causal, 0 or 1, also asks
 *               pos_k <= pos_q
 *    bias       f32, f16 or bf16, added to the scores; -inf masks; other sums below -2e38 count as -2e38
 *    mask       bool, true = attend; NULL: none, as of bias.
 *               Both broadcast to [batch, num_heads, seqlen_q, seqlen_kv] by NumPy's rule; not with thd
 *    sinks      [num_heads] f32 or NULL: exp(sink) joins the denominator only
 *    alibi      [num_heads] f32 or NULL: slope * (pos_k - pos_q) is added to the scores
 *    seqused_k  [batch] int32 or NULL: only the first seqused_k[b] keys exist (and count for the alignment)
 *    cu_seqlens [batch + 1] int32, thd only: sequence b is tokens cu_seqlens[b] .. cu_seqlens[b + 1] - 1
 *    rope       rotates q and k, NULL: not; keys_rotated, 0 or 1: k is already rotated (a cache), only q is
 *    value_rope RoPER: rotates v at its positions, the weighted sum back at the query's; values_rotated, 0 or 1: v already
 *               is. Tables of either need rows for the tokens that exist, and that are rotated in the call
 *    q_positions, k_positions   for the rotations only: [batch, seqlen] or [seqlen] (thd: [total]), int32 or int64,
 *               >= 0, preceded by [axes] if the ropes have several, which must then be as many for both;
 *               NULL: keys at 0, 1, 2 …, queries at seqlen_kv - seqlen_q + 0, 1, 2 …, of each sequence's own lengths
 *    score      name of a score function that kernels were built with (gyre_add_kernels() in CMake), NULL: none. It
 *               changes the scores after softcap, before bias and masks, and reads score_inputs, all of them and no others
 *    page_table [batch, max_pages] int32 or NULL: k and v are pools of pages, [num_pages, page_size, num_kv_heads, dim]
 *               (bhsd: [num_pages, num_kv_heads, page_size, dim]), page_size a power of two, and key j of entry b is slot
 *               j % page_size of page page_table[b, j / page_size]. Strides from page to page and slot to slot are >= 0.
 *               seqlen_kv is max_pages * page_size; seqused_k says how many keys each entry has (NULL: all of them), and
 *               only the pages that hold them are looked up. With thd, entries are sequences, pools are as with bshd,
 *               k_positions too, and there is no cu_seqlens_k; not with a score then
 *    value_order  GYRE_VALUES_IN_BLOCKS: v is a cache in blocks, contiguous or paged, whose keys and values are rotated
 *               already where they are to be; not with thd without a page_table, nor with softcap, bias, mask, sinks, alibi,
 *               dropout or a score
 *    dropout    probability p, 0 <= p < 1, that P_ij becomes 0; the others become P_ij / (1 - p). lse is that of all. Not with a
 *               score. Which are dropped follows from dropout_seed, dropout_offset, and where they stand, alone: key j of
 *               query i and head h of batch entry b (thd: of sequence b; i and j count from its first) is dropped if
 *               w[j % 4] < floor(p 2^32), where w = Philox4x32-10 of the counter words {j / 4, i, b * num_heads + h,
 *               dropout_offset} and the key words {dropout_seed % 2^32, dropout_seed / 2^32} (Salmon et al., SC 2011).
 *               A training step takes a seed for all and an offset of its own for each call */
typedef struct gyre_attention_args {
    uint32_t size;
    gyre_layout layout;
    gyre_tensor q, k, v, out;
    const gyre_tensor *lse;
    float scale;
    float softcap;
    int32_t causal;
    gyre_alignment alignment;
    int64_t window_left, window_right;
    const gyre_tensor *bias;
    const gyre_tensor *mask;
    const gyre_tensor *sinks;
    const gyre_tensor *alibi;
    const gyre_tensor *seqused_k;
    const gyre_tensor *cu_seqlens_q, *cu_seqlens_k;
    const gyre_rope *rope;
    const gyre_rope *value_rope;
    int32_t keys_rotated;
    int32_t values_rotated;
    const gyre_tensor *q_positions, *k_positions;
    void *workspace;
    size_t workspace_size; /* bytes */
    const char *score;
    const gyre_score_input *score_inputs; /* [score_input_count] */
    int32_t score_input_count;
    const gyre_tensor *page_table;
    gyre_value_order value_order;
    float dropout;
    uint32_t dropout_offset;
    uint64_t dropout_seed;
} gyre_attention_args;

static inline gyre_attention_args gyre_attention_defaults(void) {
    gyre_attention_args a;
    memset(&a, 0, sizeof a);
    a.size = (uint32_t)sizeof a;
    a.window_left = -1;
    a.window_right = -1;
    return a;
}

/** Fused attention, one pass, never a seqlen_q x seqlen_kv array:
 *      S = scale * R(q) R(k)^T, capped, given to the score function, biased, masked
 *      P = softmax over keys, some dropped;   out_i = R(-i) sum_j P_ij R(j) v_j
 *  Softmax and accumulation in f32. A row that sees no key gives 0 and lse -inf. The result's bits do not depend on the
 *  number of threads. Sources: Dao et al., FlashAttention, arXiv:2205.14135 (online softmax); Su et al., RoFormer,
 *  arXiv:2104.09864 (R); Harik and Jayasiri, RoPER (rotated values).
 *  Tensors on a CUDA device (all of them, lists and positions too), in bf16 or f16 with head_dim = v_head_dim 64, 96, 128 or
 *  256: one launch on the context's cuda_stream, as gyre_rotary() does; weights are rounded to the tensors' type. Where keys
 *  or values are rotated in the call, launches before it form their angles in the workspace: memory of the device, or
 *  NULL: the stream's (cuMemAllocAsync), which gets it back. With page_table, bias, mask, softcap, alibi or sinks they
 *  are not rotated in the call, and their rows are aligned to 16 bytes. At most 16 queries a sequence (on average),
 *  with head_dim 64 or 128, over keys and values that are not rotated in the call and aligned so, without bias, mask,
 *  softcap, alibi and sinks, are two launches: keys are cut into parts, whose results are in the workspace, and merged;
 *  how many parts depends on the device and on how many sequences and heads there are, and so do the last bits of the
 *  result. A batch entry of bias or mask spans less than 2^31 elements. Not there: value_order, score, dropout. What
 *  lists and positions hold is not checked, only kept within bounds.
 *  Errors: as gyre_rotary(), each naming the argument. */
GYRE_API gyre_status gyre_attention(gyre_context *context, const gyre_attention_args *args);

/** Bytes of workspace that gyre_attention() with these arguments and this context needs; data pointers may be NULL. */
GYRE_API gyre_status gyre_attention_workspace_size(gyre_context *context, const gyre_attention_args *args,
                                                   size_t *bytes);

GYRE_LAYOUT(gyre_score_input, tensor, 96, 8, 88, 8);
GYRE_LAYOUT(gyre_attention_args, dropout_seed, 568, 560, 464, 456);

#ifdef __cplusplus
}
#endif
#endif
