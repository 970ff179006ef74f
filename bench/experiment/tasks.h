/// What is learnt: sequences of tokens, and what a model is to say at some of their positions.
#pragma once

#include "random.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gyre::experiment {

struct Batch {
    std::int64_t sequences = 0, length = 0;
    std::vector<std::int32_t> tokens;  // [sequences, length]
    std::vector<std::int32_t> targets; // likewise; -1: nothing is asked here
    std::vector<std::int32_t> samples; // likewise: which question a target is part of; -1 where there is none
};

enum class Split {
    training,
    held_out, // never trained on
    longer    // held out, and longer than anything trained on; targets only where the length matters
};

struct Task {
    const char *name;
    const char *asks;
    std::int32_t layers;              // of the model, by default
    std::int64_t batch, steps;        // likewise
    bool has_distances;               // outputs are distances, so that there are as many as positions
    std::int32_t vocabulary, outputs; // outputs: with has_distances not read

    std::int32_t output_count(std::int64_t length) const {
        return has_distances ? static_cast<std::int32_t>(2 * length) : outputs;
    }
    /// Sequences of `length` tokens; of twice as many for `longer` where that is what is longer.
    Batch make(Random &random, std::int64_t sequences, std::int64_t length, Split split) const;
};

/// dist   24 symbols; at each: how far back is the last one like it, less one
/// sub    ?abcdefgh|03:def   the three letters from an index, strings of 6..20 letters (longer: 21..30)
/// add    $12+345=357;       operands of 1..3 digits, the operands' number chosen first (longer: 4 digits)
/// nback  24 letters; from position 32 on every other token is an odd number n: which letter stood n back
const std::vector<Task> &tasks();

/// Throws cli::UsageError that lists the names.
const Task &find_task(const std::string &name);

} // namespace gyre::experiment
