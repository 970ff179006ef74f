/// The arguments of a random call of gyre_linear_attention(), as they are given and as the oracle reads them.
#pragma once
#include "attention_plan.h"
#include "ropes.h"

#include <deque>

namespace gyre::fuzz {

class LinearArguments {
public:
    LinearArguments(ByteReader &r, Store &store);

    AttentionPlan plan;
    gyre_linear_attention_args given = gyre_linear_attention_defaults();
    gyre_linear_attention_args clean = gyre_linear_attention_defaults(); // 0 for positions that do not count
    std::vector<int64_t> kv_state_shape, k_state_shape;
    Output *out = nullptr;

private:
    std::deque<RandomPositions> positions_;

    void draw_states(ByteReader &r, Store &store);
    void draw_rotation(ByteReader &r, Store &store);
    const gyre_tensor *draw_positions(ByteReader &r, Store &store, bool of_keys, int32_t axes, int64_t limit);
    TableRows rows_of_tables(int64_t count) const;
};

} // namespace gyre::fuzz
