/// Options of calls of few queries, whose scores are more than products, by numbers.
#pragma once
#include "attention_case.h"
#include "random.h"

#include <vector>

namespace gyre::test {

/// A mask of the case's queries and keys that is no range.
inline const gyre_tensor *scattered_mask(AttentionCase &c, double share_of_true, const std::vector<int64_t> &shape) {
    Tensor mask(GYRE_BOOL, shape);
    Random random(11);
    std::vector<double> values;
    for (int64_t i = 0; i < mask.count(); i++) values.push_back(random.chance(share_of_true));
    mask.set_values(values);
    return c.hold(std::move(mask));
}

inline const gyre_tensor *normal_bias(AttentionCase &c, gyre_dtype type, const std::vector<int64_t> &shape) {
    Tensor bias(type, shape, Placement::with_gaps(3));
    bias.fill_normal(5);
    return c.hold(std::move(bias));
}

inline const gyre_tensor *per_head(AttentionCase &c, double first, double step) {
    std::vector<double> values;
    for (int64_t h = 0; h < c.shape.heads; h++) values.push_back(first + step * static_cast<double>(h));
    return c.hold(GYRE_F32, values);
}

/// Every option that a bit of `which` names.
inline void give_options(AttentionCase &c, int which) {
    const AttentionShape &s = c.shape;
    if (which & 1) c.args.bias = normal_bias(c, GYRE_F32, {s.heads, s.seqlen_q, s.seqlen_kv});
    if (which & 2) c.args.mask = scattered_mask(c, 0.7, {s.batch, 1, s.seqlen_q, s.seqlen_kv});
    if (which & 4) c.args.alibi = per_head(c, 0.01, 0.002);
    if (which & 8) c.args.softcap = 3;
    if (which & 16) c.args.sinks = per_head(c, -1, 0.5);
}

} // namespace gyre::test
