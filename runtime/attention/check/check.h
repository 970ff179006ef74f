/// What calls of attention are checked against, and the parts of check_attention() that live in files of their own.
#pragma once
#include "attention/call/call.h"
#include "core/saturated.h"

namespace gyre {

constexpr int64_t largest_head_dim = 512;
constexpr int64_t most_tokens = 1 << 28; // positions and windows stay within the kernels' 32 bits

/// q, k and v.
gyre_status check_inputs(const gyre_attention_args &args, bool need_data, AttentionCall *call);

/// out. After q, k and v.
gyre_status check_output(const gyre_attention_args &args, bool need_data, AttentionCall *call);

/// value_order. After q, k and v.
gyre_status check_blocks(const gyre_attention_args &args, AttentionCall *call);

/// lse. After q, k, v and out.
gyre_status check_lse(const gyre_attention_args &args, bool need_data, AttentionCall *call);

/// Scale, cap, bounds of what is seen, bias, mask, sinks, slopes, the score function's name and dropout. After the tensors and the
/// sequences.
gyre_status check_options(const gyre_attention_args &args, bool need_data, AttentionCall *call);

/// prepared_mask. After the mask and the lists of lengths.
gyre_status check_mask_is_prepared(const gyre_attention_args &args, bool need_data, AttentionCall *call);

/// cu_seqlens: shapes, then every value; how many sequences there are.
gyre_status check_sequences(const gyre_attention_args &args, bool need_data, AttentionCall *call);

/// seqused_k. After the page table, which tells how many keys there may be.
gyre_status check_used_keys(const gyre_attention_args &args, bool need_data, AttentionCall *call);

/// rope, value_rope and the positions they read.
gyre_status check_rotations(const gyre_attention_args &args, bool need_data, AttentionCall *call);

/// True if (rows - 1) * stride + columns counts in 31 bits.
inline bool fits_index(int64_t rows, int64_t stride, int64_t columns) {
    return saturated_sum(reach(rows, stride), columns) < INT32_MAX;
}

/// The page table and the pools that k and v are with one, which become what they stand for. After q, k, v, out and
/// the sequences.
gyre_status check_page_table(const gyre_attention_args &args, bool need_data, AttentionCall *call);

/// What the table holds for the keys that exist. After the lists of lengths.
gyre_status check_pages(bool need_data, const AttentionCall &call);

} // namespace gyre
