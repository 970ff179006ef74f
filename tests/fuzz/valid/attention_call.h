/// The arguments of a random call of gyre_attention(), as they are given and as the oracle reads them.
#pragma once
#include "attention_options.h"
#include "ropes.h"
#include "support/tensor.h"

#include <deque>

namespace gyre::fuzz {

struct CallRules {
    PlanRules plan;
    OptionRules options;
    bool may_have_nan = true, may_be_in_place = true, has_lse = false;
};

class AttentionArguments {
public:
    AttentionArguments(ByteReader &r, Store &store, const CallRules &rules);

    AttentionPlan plan;
    gyre_attention_args given = gyre_attention_defaults();
    gyre_attention_args clean = gyre_attention_defaults(); // without pages, and 0 for positions that do not count
    bool in_place = false;
    Input *q = nullptr;
    Output *out = nullptr, *lse = nullptr;

private:
    std::vector<double> k_numbers_, v_numbers_;
    std::deque<test::Tensor> reference_;
    std::deque<RandomPositions> positions_;
    std::deque<gyre_rope> clean_ropes_;

    /// True if some are NaN.
    bool draw_numbers(ByteReader &r, const CallRules &rules);
    void draw_lists(Store &store);
    void draw_rotations(ByteReader &r, Store &store);
    gyre_rope *draw_rope(ByteReader &r, Store &store, int64_t dim, int32_t axes);
    TableRows rows_of_tables(int64_t count, bool keys_too) const;
    int64_t default_rows() const;
    const test::Tensor &refer(const Extents &extents, const std::vector<double> &numbers);
};

} // namespace gyre::fuzz
