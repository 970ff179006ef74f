#include "linear_backward_case.h"
#include "each_kernel.h"
#include "linear_allowance.h"

namespace gyre::test {

LinearBackwardCase::LinearBackwardCase(const AttentionShape &shape, uint64_t seed, int64_t sequences)
    : forward(shape, seed, sequences), out_grad(forward.out), q_grad(forward.q), k_grad(forward.k), v_grad(forward.v),
      kv_state_out_grad(forward.kv_state), k_state_out_grad(forward.k_state), kv_state_grad(forward.kv_state),
      k_state_grad(forward.k_state), args(gyre_linear_attention_backward_defaults()),
      state_views_{kv_state_out_grad.view(), k_state_out_grad.view(), kv_state_grad.view(), k_state_grad.view()} {
    out_grad.fill_normal(seed * 7 + 5);
    kv_state_out_grad.fill_normal(seed * 7 + 6);
    k_state_out_grad.fill_normal(seed * 7 + 7);
    args.forward = &forward.args;
    args.out_grad = out_grad.view();
    args.q_grad = q_grad.view();
    args.k_grad = k_grad.view();
    args.v_grad = v_grad.view();
}

void LinearBackwardCase::give_states() {
    forward.give_states();
    args.kv_state_out_grad = &state_views_[0];
    args.k_state_out_grad = &state_views_[1];
    args.kv_state_grad = &state_views_[2];
    args.k_state_grad = &state_views_[3];
}

gyre_status LinearBackwardCase::run(gyre_context *context) {
    const Tensor *const read[] = {&forward.q,       &forward.k, &forward.v,         &forward.kv_state,
                                  &forward.k_state, &out_grad,  &kv_state_out_grad, &k_state_out_grad};
    Tensor *const written[] = {&q_grad, &k_grad, &v_grad, &kv_state_grad, &k_state_grad};
    std::vector<std::vector<unsigned char>> before;
    for (const Tensor *t : read) before.push_back(t->memory());
    for (Tensor *t : written) t->poison();
    forward.out.poison();
    const gyre_status status = gyre_linear_attention_backward(context, &args);
    for (size_t i = 0; i < before.size(); i++)
        CHECK_MESSAGE(read[i]->memory() == before[i], "an input was written, or memory around it");
    for (const Tensor *t : written) CHECK_MESSAGE(t->surroundings_intact(), "memory around a gradient was written");
    CHECK_MESSAGE(forward.out.untouched(), "out was written");
    if (!args.kv_state_grad)
        CHECK_MESSAGE((kv_state_grad.elements_poisoned() && k_state_grad.elements_poisoned()),
                      "gradients of states were written though they were not asked for");
    return status;
}

void LinearBackwardCase::check(int32_t threads) {
    const std::string description = forward.describe();
    CAPTURE(description);
    const OracleLinearBackward expected = oracle_linear_backward(args);
    const gyre_layout layout = forward.args.layout;
    const gyre_dtype dtype = forward.shape.dtype;
    const double relative = 2 * linear_error(forward.args);
    each_target(
        [&](gyre_context *context) {
            REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
            CAPTURE(text(gyre_selected_kernel(context)));
            check_numbers("q_grad", Dense(args.q_grad, layout).data, expected.q, dtype, relative);
            check_numbers("k_grad", Dense(args.k_grad, layout).data, expected.k, dtype, relative);
            check_numbers("v_grad", Dense(args.v_grad, layout).data, expected.v, dtype, relative);
            if (!args.kv_state_grad) return;
            check_numbers("kv_state_grad", kv_state_grad.values(), expected.kv_state, GYRE_F32, relative);
            check_numbers("k_state_grad", k_state_grad.values(), expected.k_state, GYRE_F32, relative);
        },
        threads);
}

} // namespace gyre::test
