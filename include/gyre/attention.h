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

/** The position pos_q of query i among the keys, for causal, window and ALiBi. Key j has the position pos_k = j. */
GYRE_ENUM(gyre_alignment) {
    GYRE_BOTTOM_RIGHT = 0, /**< pos_q = i + seqlen_kv - seqlen_q: the last query sees the last key */
    GYRE_TOP_LEFT = 1      /**< pos_q = i */
};

/** A tensor that a score function asks for by name. */
typedef struct gyre_score_input {
    /** The name that the function asks for. */
    const char *name;
    /** f32 or int32, any strides. Its shape is the one that the function declares, with [batch, num_heads] before it. Either of
     *  these two may be 1, and 1s in front may be left out. Where the function declares an extent as that of the queries or keys,
     *  it is seqlen_q or seqlen_kv. With thd, entry b belongs to sequence b, but an extent of queries or keys counts the tokens of
     *  all sequences, and the first extent is 1. The tensor overlaps neither out nor lse. */
    gyre_tensor tensor;
} gyre_score_input;

/** Arguments of gyre_attention(). */
typedef struct gyre_attention_args {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** The order of the dimensions of q, k, v and out; the shapes below are for bshd. Lists are contiguous. */
    gyre_layout layout;
    /** Queries: [batch, seqlen_q, num_heads, head_dim], f32, f16 or bf16; head_dim contiguous, 1 to 512. */
    gyre_tensor q;
    /** Keys: [batch, seqlen_kv, num_kv_heads, head_dim], of q's type. On the CPU they may also be f16 or bf16 if q is f32: the result
     *  is then that of the same numbers in f32. head_dim contiguous; num_kv_heads divides num_heads (GQA, MQA). */
    gyre_tensor k;
    /** Values: [batch, seqlen_kv, num_kv_heads, v_head_dim], of k's type; v_head_dim contiguous, 1 to 512. It may differ from
     *  head_dim. */
    gyre_tensor v;
    /** The result: [batch, seqlen_q, num_heads, v_head_dim], of q's type. It may be q itself, and overlaps neither k nor v. */
    gyre_tensor out;
    /** The natural logarithm of the softmax's denominators, sinks included: [batch, num_heads, seqlen_q] f32 ([num_heads, total_q] for
     *  thd), last dimension contiguous; -inf where nothing is visible. NULL: not wanted. */
    const gyre_tensor *lse;
    /** The factor of the products of queries and keys; 0: 1 / sqrt(head_dim). */
    float scale;
    /** Above 0, scores become softcap * tanh(score / softcap), before bias and masks; 0: no cap. */
    float softcap;
    /** 1: a query sees keys with pos_k <= pos_q only; 0: all. */
    int32_t causal;
    /** The positions of queries among the keys. */
    gyre_alignment alignment;
    /** A query sees keys with pos_k >= pos_q - window_left only; -1: no bound. */
    int64_t window_left;
    /** A query sees keys with pos_k <= pos_q + window_right only; -1: no bound. */
    int64_t window_right;
    /** What is added to the scores: f32, f16 or bf16, broadcast to [batch, num_heads, seqlen_q, seqlen_kv] by NumPy's rule; not with
     *  thd. -inf masks a key; other sums below -2e38 count as -2e38. NULL: none. */
    const gyre_tensor *bias;
    /** Which keys each query sees: bool, true where it attends, broadcast as bias is; not with thd. NULL: all.
     *  Three kinds of masks are fast if their last dimension is contiguous. First, a mask that is the same in all heads and leaves each
     *  sequence one range of keys, with or without a diagonal (padding on either side, also with causal), costs no more than seqused_k
     *  and causal. Second, a block of keys is skipped if it lies before or behind everything that some neighbouring queries see
     *  (documents, prefixes, padded queries). Third, neighbouring queries that each see one range, with or without a diagonal, cost no
     *  more than without a mask. */
    const gyre_tensor *mask;
    /** [num_heads] f32: exp(sink) is added to the softmax's denominator. NULL: none. */
    const gyre_tensor *sinks;
    /** [num_heads] f32: slope * (pos_k - pos_q) is added to the scores. NULL: none. */
    const gyre_tensor *alibi;
    /** [batch] int32: entry b has only its first seqused_k[b] keys; the alignment, too, counts these alone. NULL: all of them. */
    const gyre_tensor *seqused_k;
    /** [batch + 1] int32, with thd only: the queries of sequence b are the tokens cu_seqlens_q[b] .. cu_seqlens_q[b + 1] - 1. */
    const gyre_tensor *cu_seqlens_q;
    /** [batch + 1] int32, with thd only and not with a page_table: the keys of sequence b, in the same way. */
    const gyre_tensor *cu_seqlens_k;
    /** The rotation of q and k; NULL: none. Its tables need rows for all tokens that are rotated in the call. */
    const gyre_rope *rope;
    /** RoPER: the rotation of v at its positions, and of the weighted sum back at the query's; NULL: none. Tables as rope's. */
    const gyre_rope *value_rope;
    /** 1: k is already rotated, as in a cache, and only q is rotated here; 0: both are. */
    int32_t keys_rotated;
    /** 1: v is already rotated, and only the weighted sum is rotated back; 0: v is rotated here, too. */
    int32_t values_rotated;
    /** Positions of the queries, for the rotations only: [batch, seqlen_q] or [seqlen_q] (thd: [total_q]), int32 or int64, at least 0.
     *  If the ropes have several axes, as many in both, [axes] comes first. NULL: seqlen_kv - seqlen_q + 0, 1, 2 … by each sequence's
     *  own lengths. */
    const gyre_tensor *q_positions;
    /** Positions of the keys, for the rotations only, shaped as q_positions are. Those of keys that do not exist are not read.
     *  NULL: 0, 1, 2 … */
    const gyre_tensor *k_positions;
    /** Scratch memory of the caller, which overlaps no tensor; NULL: the context's own. */
    void *workspace;
    /** Bytes of workspace; 0 with NULL. */
    size_t workspace_size;
    /** The name of a score function that kernels were built with (gyre_add_kernels() in CMake); NULL: none. It changes the scores
     *  after softcap, before bias and masks. */
    const char *score;
    /** [score_input_count] the tensors that the score function reads: all that it asks for, and no others. */
    const gyre_score_input *score_inputs;
    /** The number of score_inputs. */
    int32_t score_input_count;
    /** [batch, max_pages] int32: k and v are pools of pages, [num_pages, page_size, num_kv_heads, dim] (bhsd: [num_pages, num_kv_heads,
     *  page_size, dim]). page_size is a power of two, and key j of entry b is slot j % page_size of page
     *  page_table[b, j / page_size]. Strides from page to page and slot to slot are at least 0. seqlen_kv is
     *  max_pages * page_size. seqused_k says how many keys each entry has, and only the pages that hold them are looked up. With
     *  thd, entries are sequences, pools and k_positions are as with bshd, and neither cu_seqlens_k nor score is given.
     *  NULL: k and v are as the layout says. */
    const gyre_tensor *page_table;
    /** GYRE_VALUES_IN_BLOCKS: v is a cache in blocks, contiguous or paged. If its keys or values are to be rotated, they already are.
     *  Not with thd without a page_table, nor with softcap, bias, mask, alibi, dropout or a score. */
    gyre_value_order value_order;
    /** The probability p, 0 <= p < 1, that P_ij becomes 0; all others become P_ij / (1 - p). lse is that without dropout. Not with a
     *  score. dropout_seed, dropout_offset and the place of P_ij alone decide whether it is dropped: key j of query i and head h of
     *  batch entry b (thd: of sequence b; i and j count from its first) is dropped if w[j % 4] < floor(p 2^32), where
     *  w = Philox4x32-10 of the counter words {j / 4, i, b * num_heads + h, dropout_offset} and the key words
     *  {dropout_seed % 2^32, dropout_seed / 2^32} (Salmon et al., SC 2011). */
    float dropout;
    /** Tells calls with the same seed apart: a training step takes one seed for all its calls, and an offset for each. */
    uint32_t dropout_offset;
    /** The seed of dropout. */
    uint64_t dropout_seed;
    /** What gyre_mask_prepare() wrote for calls like this one. The call then reads the bytes of mask only where neighbouring queries
     *  see more than one range of keys. The result is the same. NULL: the call reads the mask itself. */
    const void *prepared_mask;
    /** Bytes of prepared_mask, at least as many as gyre_mask_prepare_size() says; 0 with NULL. */
    size_t prepared_mask_size;
    /** The CUstream or cudaStream_t on which this call is queued if its tensors are on a CUDA device, and no other call; NULL: the
     *  context's cuda_stream. 1 and 2 name the default streams, as gyre/context.h tells. On the CPU it means nothing. */
    void *cuda_stream;
    /** NULL. Fills the structure up on every processor, so that members of later versions begin behind what a caller of this one has. */
    const void *reserved;
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

/** Fused attention, in one pass, without an array of seqlen_q x seqlen_kv:
 *      S = scale * R(q) R(k)^T, capped, given to the score function, biased, masked
 *      P = softmax over keys, some dropped;   out_i = R(-i) sum_j P_ij R(j) v_j
 *  Softmax and sums are in f32. A row that sees no key gives 0, and lse -inf, also with sinks. The bits of the result do not depend on the
 *  number of threads. Sources: Dao et al., FlashAttention, arXiv:2205.14135 (online softmax); Su et al., RoFormer,
 *  arXiv:2104.09864 (R); Harik and Jayasiri, RoPER (rotated values).
 *  On a CUDA device all tensors, lists and positions are in its memory, and launches are queued on cuda_stream, as
 *  gyre_rotary() does it. Weights are rounded to the type of the tensors. What lists and positions hold is not checked, only kept within
 *  bounds. A batch entry of bias or mask spans less than 2^31 elements. A workspace is memory of the device; with NULL the memory comes
 *  from a pool of the context, in the stream's order. Unsupported there: value_order, prepared_mask,
 *  head sizes above those of all linked kernels, and scores and dropout that none was made for. With few queries the last bits of
 *  the result depend on the device and on the number of sequences and heads. include/gyre/devices.md of the sources tells which
 *  kernels there are, and how calls become launches.
 *  Errors: as gyre_rotary(), each naming the argument. */
GYRE_API gyre_status gyre_attention(gyre_context *context, const gyre_attention_args *args);

/** Bytes of workspace that gyre_attention() with these arguments and this context needs; data pointers may be NULL: on CUDA devices it
 *  then has room for keys and values that are not aligned, but takes pages for aligned. */
GYRE_API gyre_status gyre_attention_workspace_size(gyre_context *context, const gyre_attention_args *args,
                                                   size_t *bytes);

GYRE_LAYOUT(gyre_score_input, tensor, 96, 8, 88, 8);
GYRE_GROWING_LAYOUT(gyre_attention_args, reserved, 600, 592, 480, 476);

#ifdef __cplusplus
}
#endif
#endif
