/// Calls of linear attention at random.
#pragma once
#include "linear_case.h"
#include "random.h"

namespace gyre::test {

/// What a seed makes of a call: its shape, with sequences of at most `longest` tokens, and then its options.
class RandomLinear {
public:
    RandomLinear(uint64_t seed, int64_t longest);

    AttentionShape shape;

    /// Sets the options of a case of this shape. Returns whether it has states, which are the caller's to give.
    bool set_options(LinearCase &c);

private:
    uint64_t seed;
    Random random;
    int causal;
};

} // namespace gyre::test
