/// One call of gyre_attention_backward() after gyre_attention(), checked on every target against the oracle.
///
///     BackwardCase c(AttentionShape().lengths(17, 65).dims(64));
///     c.forward.args.causal = 1;
///     c.check();
#pragma once
#include "attention_case.h"
#include "oracle_backward.h"

#include <optional>

namespace gyre::test {

class BackwardCase {
public:
    explicit BackwardCase(const AttentionShape &shape, uint64_t seed = 1);

    /// Adds this bias, and asks for its gradient, in memory with such gaps.
    void add_bias(Tensor bias, const Placement &of_gradient = {});

    /// Poisons the gradients and runs both calls. Every memory but the gradients' must be left as it was.
    gyre_status run(gyre_context *context);

    /// Runs on every target, compares with the oracle, which reads the inputs as they are stored.
    void check(int32_t threads = 1);

    /// Checks on every device instead, of which there must be one.
    void check_on_devices();

    AttentionCase forward;
    Tensor out_grad, q_grad, k_grad, v_grad;
    gyre_attention_backward_args args;
    std::optional<Tensor> bias_grad;

private:
    gyre_tensor bias_grad_view_;

    gyre_status run_on_device(gyre_context *context);
    void check_against(const OracleBackward &expected, gyre_context *context);
};

} // namespace gyre::test
