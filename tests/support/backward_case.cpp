#include "backward_case.h"
#include "backward_allowance.h"
#include "compare.h"
#include "each_kernel.h"
#include "on_device.h"

namespace gyre::test {

BackwardCase::BackwardCase(const AttentionShape &shape, uint64_t seed)
    : forward(shape, seed), out_grad(forward.out), q_grad(forward.q), k_grad(forward.k), v_grad(forward.v),
      args(gyre_attention_backward_defaults()) {
    out_grad.fill_normal(seed * 7 + 5);
    args.forward = &forward.args;
    args.out_grad = out_grad.view();
    args.q_grad = q_grad.view();
    args.k_grad = k_grad.view();
    args.v_grad = v_grad.view();
}

void BackwardCase::add_bias(Tensor bias, const Placement &of_gradient) {
    bias_grad.emplace(GYRE_F32, bias.shape(), of_gradient);
    bias_grad_view_ = bias_grad->view();
    args.bias_grad = &bias_grad_view_;
    forward.args.bias = forward.hold(std::move(bias));
}

gyre_status BackwardCase::run(gyre_context *context) {
    REQUIRE_MESSAGE(forward.run(context) == GYRE_OK, text(gyre_last_error()));
    const Tensor *const read[] = {&forward.q, &forward.k, &forward.v, &forward.out, &forward.lse, &out_grad};
    std::vector<Tensor *> written = {&q_grad, &k_grad, &v_grad};
    if (bias_grad) written.push_back(&*bias_grad);
    std::vector<uint64_t> before;
    for (const Tensor *t : read) before.push_back(t->fingerprint());
    for (Tensor *t : written) t->poison();
    const gyre_status status = is_on_device(context) ? run_on_device(context) : gyre_attention_backward(context, &args);
    for (size_t i = 0; i < before.size(); i++)
        CHECK_MESSAGE(read[i]->fingerprint() == before[i], "an input was written, or memory around it");
    for (const Tensor *t : written) CHECK_MESSAGE(t->surroundings_intact(), "memory around a gradient was written");
    return status;
}

gyre_status BackwardCase::run_on_device(gyre_context *context) {
    OnDevice device;
    for (Tensor *t : {&out_grad, &q_grad, &k_grad, &v_grad}) device.add(*t);
    const gyre_attention_args forward_there = forward.views(device);
    gyre_attention_backward_args there = args;
    there.forward = &forward_there;
    for (gyre_tensor *t : {&there.out_grad, &there.q_grad, &there.k_grad, &there.v_grad}) *t = device.view(*t);
    const gyre_status status = gyre_attention_backward(context, &there);
    device.fetch();
    return status;
}

void BackwardCase::check_against(const OracleBackward &expected, gyre_context *context) {
    const gyre_layout layout = forward.args.layout;
    const gyre_dtype dtype = forward.shape.dtype;
    REQUIRE_MESSAGE(forward.run(context) == GYRE_OK, text(gyre_last_error()));
    const std::string forward_kernel = gyre_selected_kernel(context);
    REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
    CAPTURE(text(gyre_selected_kernel(context)));
    const BackwardErrors errors = backward_errors(forward_kernel, forward.args, gyre_selected_kernel(context));
    const auto check = [&](const char *name, const std::vector<double> &got, const OracleGradient &gradient,
                           gyre_dtype type) {
        check_within(name, got, gradient.exact.data, gradient_allowance(gradient, errors, type));
    };
    check("q_grad", Dense(args.q_grad, layout).data, expected.q, dtype);
    check("k_grad", Dense(args.k_grad, layout).data, expected.k, dtype);
    check("v_grad", Dense(args.v_grad, layout).data, expected.v, dtype);
    if (args.bias_grad) check("bias_grad", bias_grad->values(), bias_gradient(expected, bias_grad->shape()), GYRE_F32);
}

void BackwardCase::check(int32_t threads) {
    const std::string description = forward.describe();
    CAPTURE(description);
    const OracleBackward expected = oracle_backward(forward.args, args.out_grad);
    each_target([&](gyre_context *context) { check_against(expected, context); }, threads);
}

void BackwardCase::check_on_devices() {
    const std::string description = forward.describe();
    CAPTURE(description);
    const OracleBackward expected = oracle_backward(forward.args, args.out_grad);
    each_device([&](gyre_context *context) { check_against(expected, context); });
}

} // namespace gyre::test
