/// Keys and values of a random call of attention as they are given: contiguous, in pages, in blocks.
#pragma once
#include "attention_plan.h"

namespace gyre::fuzz {

/// Places numbers, and garbage where `hidden` says so; both in C order of the plan's extents. Sets k, v, page_table, value_order
/// and the lists that go with them.
class KeyPlacement {
public:
    KeyPlacement(ByteReader &r, Store &store, const AttentionPlan &plan);

    void place_keys(const std::vector<double> &numbers, const std::vector<bool> &hidden, gyre_attention_args *a);
    void place_values(const std::vector<double> &numbers, const std::vector<bool> &hidden, gyre_attention_args *a);

private:
    ByteReader &r_;
    Store &store_;
    const AttentionPlan &plan_;
    int64_t pages_ = 0, pool_ = 0; // of a sequence, and in all
    std::vector<int64_t> table_;   // [sequences, pages]; negative: none
    const gyre_tensor *page_table_ = nullptr;

    const gyre_tensor &place(const Extents &of, const std::vector<double> &numbers, const std::vector<bool> &hidden,
                             bool in_blocks);
    const gyre_tensor &place_in_pages(const Extents &of, const std::vector<double> &numbers,
                                      const std::vector<bool> &hidden, bool in_blocks);
};

} // namespace gyre::fuzz
