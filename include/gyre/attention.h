/** @file
 *  Fused attention, with RoPE and RoPER. */
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

/** Where row i of the queries stands among the keys, for causal, window and ALiBi. Key j stands at pos_k = j. */
GYRE_ENUM(gyre_alignment) {
    GYRE_BOTTOM_RIGHT = 0, /**< pos_q = i + seqlen_kv - seqlen_q: the last query sees the last key */
    GYRE_TOP_LEFT = 1      /**< pos_q = i */
};

/** A tensor that a score function asks for by name. */
typedef struct gyre_score_input {
    /** The name that the function asks for. */
    const char *name;
    /** f32 or int32, any strides: the extents that the function declares, with [batch, num_heads] before them. Either of these two
     *  may be 1, and 1s in front may be left out. An extent that is declared as that of the queries or keys is seqlen_q or
     *  seqlen_kv. With thd, entry b belongs to sequence b; but an extent of queries or keys then counts the tokens of all
     *  sequences, and the first extent is 1. It overlaps neither out nor lse. */
    gyre_tensor tensor;
} gyre_score_input;

/** Arguments of gyre_attention(). */
typedef struct gyre_attention_args {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** How the dimensions of q, k, v and out are read; the shapes below are those of bshd. Lists are contiguous. */
    gyre_layout layout;
    /** Queries: [batch, seqlen_q, num_heads, head_dim], f32, f16 or bf16; head_dim contiguous, 1 to 512. */
    gyre_tensor q;
    /** Keys: [batch, seqlen_kv, num_kv_heads, head_dim], of q's type, or f16 or bf16 where q is f32, on the CPU: the result is that
     *  of the same numbers in f32. head_dim contiguous; num_kv_heads divides num_heads (GQA, MQA). */
    gyre_tensor k;
    /** Values: [batch, seqlen_kv, num_kv_heads, v_head_dim], of k's type; v_head_dim contiguous, 1 to 512, possibly another size than
     *  head_dim. */
    gyre_tensor v;
    /** The result: [batch, seqlen_q, num_heads, v_head_dim], of q's type. It may be q itself, and overlaps neither k nor v. */
    gyre_tensor out;
    /** The natural logarithm of the softmax's denominators, sinks included: [batch, num_heads, seqlen_q] f32 ([num_heads, total_q] for
     *  thd), last dimension contiguous; -inf where nothing is visible. NULL: not wanted. */
    const gyre_tensor *lse;
    /** What the products of queries and keys are multiplied by; 0: 1 / sqrt(head_dim). */
    float scale;
    /** Above 0: scores become softcap * tanh(score / softcap), before bias and masks; 0: they stay. */
    float softcap;
    /** 1: a query sees keys with pos_k <= pos_q only; 0: all. */
    int32_t causal;
    /** Where queries stand among the keys. */
    gyre_alignment alignment;
    /** A query sees keys with pos_k >= pos_q - window_left only; -1: no bound. */
    int64_t window_left;
    /** A query sees keys with pos_k <= pos_q + window_right only; -1: no bound. */
    int64_t window_right;
    /** Added to the scores: f32, f16 or bf16, broadcast to [batch, num_heads, seqlen_q, seqlen_kv] by NumPy's rule; not with thd. -inf
     *  masks, and other sums below -2e38 count as -2e38. NULL: none. */
    const gyre_tensor *bias;
    /** Which keys are seen: bool, true where the query attends, broadcast as bias is; not with thd. NULL: all. A mask that is the
     *  same in all heads and leaves a sequence a range of keys, with or without a diagonal (padding on either side, causal with it),
     *  costs no more than the same call by seqused_k and causal. Of other masks, blocks of keys are not computed that are hidden from all
     *  of some neighbouring queries and stand before or behind all that these see: documents, prefixes, padded queries; and some
     *  neighbouring queries that see a range, with or without diagonals, cost no more than without a mask. The last dimension must be
     *  contiguous for each of these. */
    const gyre_tensor *mask;
    /** [num_heads] f32: exp(sink) joins the denominator only. NULL: none. */
    const gyre_tensor *sinks;
    /** [num_heads] f32: slope * (pos_k - pos_q) is added to the scores. NULL: none. */
    const gyre_tensor *alibi;
    /** [batch] int32: entry b has its first seqused_k[b] keys only, which also count for the alignment. NULL: all of them. */
    const gyre_tensor *seqused_k;
    /** [batch + 1] int32, with thd only: the queries of sequence b are the tokens cu_seqlens_q[b] .. cu_seqlens_q[b + 1] - 1. */
    const gyre_tensor *cu_seqlens_q;
    /** [batch + 1] int32, with thd only and not with a page_table: the keys of each sequence, as cu_seqlens_q has its queries. */
    const gyre_tensor *cu_seqlens_k;
    /** Rotates q and k; NULL: neither. Tables need rows for all tokens that are rotated in the call. */
    const gyre_rope *rope;
    /** RoPER: rotates v at its positions and the weighted sum back at the query's; NULL: neither. Tables as rope's. */
    const gyre_rope *value_rope;
    /** 1: k is rotated already, as in a cache, and only q is rotated here; 0: both are. */
    int32_t keys_rotated;
    /** 1: v is rotated already, and only the weighted sum is rotated back; 0: v is rotated here. */
    int32_t values_rotated;
    /** Positions of the queries for the rotations only: [batch, seqlen_q] or [seqlen_q] (thd: [total_q]), int32 or int64, at least 0,
     *  preceded by [axes] if the ropes have several, which must be as many for both. NULL: seqlen_kv - seqlen_q + 0, 1, 2 … of each
     *  sequence's own lengths. */
    const gyre_tensor *q_positions;
    /** Positions of the keys for the rotations only, shaped as q_positions are; those of keys that do not exist are not read. NULL: 0, 1, 2 … */
    const gyre_tensor *k_positions;
    /** Scratch memory of the caller, which overlaps no tensor; NULL: the context's own. */
    void *workspace;
    /** Bytes of workspace; 0 with NULL. */
    size_t workspace_size;
    /** The name of a score function that kernels were built with (gyre_add_kernels() in CMake); NULL: none. It changes the scores
     *  after softcap, before bias and masks. */
    const char *score;
    /** [score_input_count] what the score function reads: all that it asks for, and nothing else. */
    const gyre_score_input *score_inputs;
    /** The number of score_inputs. */
    int32_t score_input_count;
    /** [batch, max_pages] int32: k and v are pools of pages, [num_pages, page_size, num_kv_heads, dim] (bhsd: [num_pages, num_kv_heads,
     *  page_size, dim]). page_size is a power of two, and key j of entry b is slot j % page_size of page
     *  page_table[b, j / page_size]. Strides from page to page and slot to slot are at least 0. seqlen_kv is
     *  max_pages * page_size; seqused_k says how many keys each entry has, and only the pages that hold them are looked up. With
     *  thd, entries are sequences, pools and k_positions are as with bshd, there is no cu_seqlens_k, and there is no score.
     *  NULL: k and v are as the layout says. */
    const gyre_tensor *page_table;
    /** GYRE_VALUES_IN_BLOCKS: v is a cache in blocks, contiguous or paged, whose keys and values are rotated already where they are to
     *  be; not with thd without a page_table, nor with softcap, bias, mask, alibi, dropout or a score. */
    gyre_value_order value_order;
    /** The probability p, 0 <= p < 1, that P_ij becomes 0; the others become P_ij / (1 - p). lse is that of all. Not with a score.
     *  Which are dropped follows from dropout_seed, dropout_offset and their places alone: key j of query i and head h of batch
     *  entry b (thd: of sequence b; i and j count from its first) is dropped if w[j % 4] < floor(p 2^32), where
     *  w = Philox4x32-10 of the counter words {j / 4, i, b * num_heads + h, dropout_offset} and the key words
     *  {dropout_seed % 2^32, dropout_seed / 2^32} (Salmon et al., SC 2011). */
    float dropout;
    /** A number of the call's own: a training step takes one seed for all its calls, and an offset for each. */
    uint32_t dropout_offset;
    /** The seed of dropout. */
    uint64_t dropout_seed;
    /** What gyre_mask_prepare() wrote for calls like this one: mask's bytes are then looked at only where some neighbouring queries
     *  do not see a range of keys. The result is the same. NULL: the call looks at the mask by itself. */
    const void *prepared_mask;
    /** Bytes of prepared_mask, at least as many as gyre_mask_prepare_size() says; 0 with NULL. */
    size_t prepared_mask_size;
} gyre_attention_args;

/** Arguments without masks, rotations and options; q, k, v and out are to be set. */
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
 *  256: one launch on the context's cuda_stream, as gyre_rotary() does; weights are rounded to the tensors' type. Keys and
 *  values that are rotated in the call, or whose rows are not aligned to 16 bytes, are written into the workspace by launches
 *  before it: memory of the device, or NULL: the stream's (cuMemAllocFromPoolAsync), which gets it back. With page_table they
 *  are not rotated in the call, and their rows are aligned to 16 bytes. At most 16 queries a sequence (on average)
 *  are two launches: keys are cut into parts, whose
 *  results are in the workspace, and merged; how many parts depends on the device and on how many sequences and heads
 *  there are, and so do the last bits of the result. A batch entry of bias or mask spans less than 2^31 elements. Not there: value_order, score, dropout. What
 *  lists and positions hold is not checked, only kept within bounds.
 *  Errors: as gyre_rotary(), each naming the argument. */
GYRE_API gyre_status gyre_attention(gyre_context *context, const gyre_attention_args *args);

/** Bytes of workspace that gyre_attention() with these arguments and this context needs; data pointers may be NULL: on CUDA devices it
 *  then has room for keys and values that are not aligned. */
GYRE_API gyre_status gyre_attention_workspace_size(gyre_context *context, const gyre_attention_args *args,
                                                   size_t *bytes);

GYRE_LAYOUT(gyre_score_input, tensor, 96, 8, 88, 8);
GYRE_GROWING_LAYOUT(gyre_attention_args, prepared_mask_size, 584, 576, 472, 468);

#ifdef __cplusplus
}
#endif
#endif
