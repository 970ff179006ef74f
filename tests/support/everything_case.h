/// A call of attention with every option that changes how its work is cut.
#pragma once
#include "attention_case.h"

namespace gyre::test {

struct Everything {
    gyre_rope rope = gyre_rope_defaults();
    AttentionCase c;

    explicit Everything(int64_t head_dim, bool general)
        : c(AttentionShape().batches(3).lengths(150, 200).head_counts(4, 2).dims(head_dim)) {
        c.args.causal = 1;
        c.args.rope = c.args.value_rope = &rope;
        c.args.seqused_k = c.hold(GYRE_I32, {200, 160, 150});
        if (!general) return;
        Tensor bias(GYRE_BF16, {4, 1, 200});
        bias.fill_normal(3);
        c.args.bias = c.hold(std::move(bias));
        c.args.sinks = c.hold(GYRE_F32, {1, 2, 3, 4});
    }
};

} // namespace gyre::test
