/// Packed sequences beside calls of each of them.
#pragma once
#include "attention_case.h"
#include "compare.h"
#include "doctest.h"
#include "each_kernel.h"

#include <vector>

namespace gyre::test {

/// The values of a run of a packed tensor's tokens.
inline std::vector<double> tokens_of(const Tensor &t, int64_t first, int64_t count) {
    const std::vector<double> values = t.values();
    const int64_t row = t.shape()[1] * t.shape()[2];
    return {values.begin() + first * row, values.begin() + (first + count) * row};
}

/// Checks a packed call against the oracle, and that each of its sequences has the bits that it has alone. `shape`: but for lengths and
/// layout. Queries and keys of sequence i end at element i + 1 of the lists. `give_options` gives a call all else.
template <typename GiveOptions>
void check_packed_and_alone(const AttentionShape &shape, const std::vector<double> &q_ends,
                            const std::vector<double> &k_ends, const GiveOptions &give_options) {
    const auto tokens = [](const std::vector<double> &ends, size_t i) { return (int64_t)(ends[i + 1] - ends[i]); };
    AttentionCase packed(AttentionShape(shape).lengths((int64_t)q_ends.back(), (int64_t)k_ends.back()).in(GYRE_THD));
    packed.args.cu_seqlens_q = packed.hold(GYRE_I32, q_ends);
    packed.args.cu_seqlens_k = packed.hold(GYRE_I32, k_ends);
    give_options(packed);
    packed.check();
    each_target([&](gyre_context *context) {
        REQUIRE(packed.run(context) == GYRE_OK);
        for (size_t i = 0; i + 1 < q_ends.size(); i++) {
            const auto q_first = (int64_t)q_ends[i], k_first = (int64_t)k_ends[i];
            const int64_t queries = tokens(q_ends, i), keys = tokens(k_ends, i);
            INFO(queries, " queries on ", keys, " keys of ", shape.head_dim);
            AttentionCase alone(AttentionShape(shape).lengths(queries, keys));
            alone.q.set_values(tokens_of(packed.q, q_first, queries));
            alone.k.set_values(tokens_of(packed.k, k_first, keys));
            alone.v.set_values(tokens_of(packed.v, k_first, keys));
            give_options(alone);
            REQUIRE(alone.run(context) == GYRE_OK);
            CHECK(alone.out.values() == tokens_of(packed.out, q_first, queries));
        }
    });
}

} // namespace gyre::test
