/// Extents of a random call of attention: which tokens there are, and where.
#pragma once
#include "heads.h"

#include <vector>

namespace gyre::fuzz {

struct AttentionPlan {
    gyre_layout layout = GYRE_BSHD;
    gyre_dtype dtype = GYRE_F32;
    int64_t heads = 1, kv_heads = 1, dim = 64, v_dim = 64;
    int64_t batch = 1, seqlen_q = 1, seqlen_kv = 1; // thd: 1, and all tokens
    int64_t page_size = 0, pages = 0;               // 0: no pages; else of each sequence
    bool value_blocks = false, has_lengths = false;
    std::vector<int64_t> q_begin, k_begin;   // thd: of each sequence, and one more
    std::vector<int64_t> q_length, k_length; // of each sequence: tokens that exist

    bool packed() const { return layout == GYRE_THD; }
    int64_t sequences() const { return (int64_t)q_length.size(); }
    Extents queries() const { return {layout, batch, seqlen_q, heads, dim}; }
    Extents outputs() const { return {layout, batch, seqlen_q, heads, v_dim}; }
    Extents keys() const { return {layout, batch, seqlen_kv, kv_heads, dim}; }
    Extents values() const { return {layout, batch, seqlen_kv, kv_heads, v_dim}; }
    std::vector<int64_t> lse_shape() const;
    int64_t longest_key() const;
    /// Every query of every sequence stands at its first key or later, where the last stand at the last key.
    bool queries_within_keys() const;
    /// Lengths for positions [batch, seqlen_kv]; empty where all tokens exist, or thd.
    std::vector<int64_t> lengths_by_entry() const { return packed() ? std::vector<int64_t>{} : k_length; }
};

struct PlanRules {
    bool may_have_pages = true;
    bool same_lengths = false; // as many queries as keys in every sequence, though not all keys may exist
};

AttentionPlan random_plan(ByteReader &r, const PlanRules &rules);

} // namespace gyre::fuzz
