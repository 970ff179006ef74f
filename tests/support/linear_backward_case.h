/// One call of gyre_linear_attention_backward(), checked on every target against the oracle.
///
///     LinearBackwardCase c(AttentionShape().lengths(65, 65).dims(64));
///     c.forward.args.causal = 1;
///     c.check();
#pragma once
#include "linear_case.h"

namespace gyre::test {

class LinearBackwardCase {
public:
    explicit LinearBackwardCase(const AttentionShape &shape, uint64_t seed = 1, int64_t sequences = 0);

    /// States before, gradients of those after, and the wish for gradients of those before.
    void give_states();

    /// Poisons the gradients and runs the call. Every memory but theirs must be left as it was.
    gyre_status run(gyre_context *context);

    /// Runs on every target, compares with the oracle, which reads the inputs as they are stored.
    void check(int32_t threads = 1);

    LinearCase forward;
    Tensor out_grad, q_grad, k_grad, v_grad, kv_state_out_grad, k_state_out_grad, kv_state_grad, k_state_grad;
    gyre_linear_attention_backward_args args;

private:
    gyre_tensor state_views_[4];
};

} // namespace gyre::test
