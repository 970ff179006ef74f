/// Attention of disjoint sets of keys merged, in double by its definition.
///
///     lse = log sum_p exp(lse_p),   out = sum_p exp(lse_p - lse) out_p
#pragma once
#include "dense.h"

#include <gyre/gyre.h>

#include <vector>

namespace gyre::test {

struct OracleMerge {
    Dense out;
    std::vector<double> out_allowed;      // |error| of each element
    std::vector<double> lse, lse_allowed; // [batch, heads, seqlen]; thd as one batch entry
};

OracleMerge oracle_merge(const gyre_attention_merge_args &args);

} // namespace gyre::test
