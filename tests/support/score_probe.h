/// The score function tests/attention/scores/probe.h by its definition, and tensors for it.
#pragma once
#include "score_case.h"

#include <cstdint>
#include <vector>

namespace gyre::test {

/// The score of the call as it stands; what tables make as low as gyre::masked is minus infinity. Packed tensors are cut to the sequence.
OracleScore oracle_probe(const ScoreCase &c);

/// Extents of the inputs before their own, and how they lie in memory.
struct ProbeInputs {
    std::vector<int64_t> factor, offset, line, pairs, groups;
    int64_t gap = 0;
    bool transposed = false;
};

/// With all of them, each entry and head has its own.
inline const ProbeInputs own_of_each = {{3, 4}, {3, 4}, {3, 4}, {3, 4}, {3, 4}};

/// Gives the call random inputs, and the oracle.
void give_probe(ScoreCase &c, const ProbeInputs &given, uint64_t seed = 21);

} // namespace gyre::test
