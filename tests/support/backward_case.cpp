#include "backward_case.h"
#include "compare.h"
#include "each_kernel.h"
#include "element.h"
#include "kernel_facts.h"

#include <algorithm>
#include <cmath>

namespace gyre::test {
namespace {

/// Relative errors that f32 arithmetic leaves in P, dP and sums of some hundred terms, beside those of large scores.
constexpr double f32_error = 3e-6, f32_spacing = 1.2e-7;

/// Kernels that sum rounded weights write lse with a relative error of P of up to so much.
double error_of_lse(const std::string &forward_kernel) { return 2 * rounding_of_kernel(forward_kernel).sum; }

/// Half the spacing of the type, relative.
double rounding_of_type(gyre_dtype dtype) {
    return dtype == GYRE_BF16 ? 1.0 / 256 : dtype == GYRE_F16 ? 1.0 / 1024 : 0;
}

/// `delta_error`: relative, of what delta is formed from.
void check_gradient(const char *name, const Dense &got, const OracleGradient &expected, gyre_dtype dtype,
                    double weight_error, double delta_error) {
    REQUIRE_MESSAGE(got.data.size() == expected.exact.data.size(), text(name));
    double worst = 0;
    size_t where = 0;
    for (size_t n = 0; n < got.data.size(); n++) {
        const double exact = expected.exact.data[n];
        const double allowed = weight_error * expected.by_weight.data[n] + delta_error * expected.by_delta.data[n] +
                               rounding_of(dtype, exact) + 1e-30;
        const double error = difference(got.data[n], exact) / allowed;
        if (error > worst) worst = error, where = n;
    }
    CHECK_MESSAGE(worst <= 1, text(name), ": element ", where, " is ", got.data[where], ", expected ",
                  expected.exact.data[where], ", ", worst, " times the error that is allowed");
}

} // namespace

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

/// The bias is repeated: its gradient is the sum over what it is repeated for.
void BackwardCase::check_bias_gradient(const OracleGradient &of_scores, double weight_error) const {
    const Dense &full = of_scores.exact; // (batch, heads, seqlen_q, seqlen_kv)
    std::vector<int64_t> shape = bias_grad->shape();
    shape.insert(shape.begin(), 4 - shape.size(), 1);
    Dense sums(shape[0], shape[1], shape[2], shape[3]);
    OracleGradient expected{sums, sums, sums};
    for (int64_t b = 0; b < full.batch; b++)
        for (int64_t h = 0; h < full.seqlen; h++)
            for (int64_t i = 0; i < full.heads; i++)
                for (int64_t j = 0; j < full.dim; j++) {
                    const auto from = (size_t)(((b * full.seqlen + h) * full.heads + i) * full.dim + j);
                    const auto to =
                        (size_t)(((b % shape[0] * shape[1] + h % shape[1]) * shape[2] + i % shape[2]) * shape[3] +
                                 j % shape[3]);
                    expected.exact.data[to] += of_scores.exact.data[from];
                    expected.by_weight.data[to] += of_scores.by_weight.data[from];
                    expected.by_delta.data[to] += of_scores.by_delta.data[from];
                }
    Dense got(sums);
    got.data = bias_grad->values();
    check_gradient("bias_grad", got, expected, GYRE_F32, weight_error, rounding_of_type(forward.shape.dtype));
}

gyre_status BackwardCase::run(gyre_context *context) {
    REQUIRE_MESSAGE(forward.run(context) == GYRE_OK, text(gyre_last_error()));
    const Tensor *const read[] = {&forward.q, &forward.k, &forward.v, &forward.out, &forward.lse, &out_grad};
    std::vector<Tensor *> written = {&q_grad, &k_grad, &v_grad};
    if (bias_grad) written.push_back(&*bias_grad);
    std::vector<std::vector<unsigned char>> before;
    for (const Tensor *t : read) before.push_back(t->memory());
    for (Tensor *t : written) t->poison();
    const gyre_status status = gyre_attention_backward(context, &args);
    for (size_t i = 0; i < before.size(); i++)
        CHECK_MESSAGE(read[i]->memory() == before[i], "an input was written, or memory around it");
    for (const Tensor *t : written) CHECK_MESSAGE(t->surroundings_intact(), "memory around a gradient was written");
    return status;
}

void BackwardCase::check(int32_t threads) {
    const std::string description = forward.describe();
    CAPTURE(description);
    const OracleBackward expected = oracle_backward(forward.args, args.out_grad);
    const gyre_layout layout = forward.args.layout;
    const gyre_dtype dtype = forward.shape.dtype;
    each_target(
        [&](gyre_context *context) {
            REQUIRE(forward.run(context) == GYRE_OK);
            const std::string forward_kernel = gyre_selected_kernel(context);
            REQUIRE_MESSAGE(run(context) == GYRE_OK, text(gyre_last_error()));
            CAPTURE(text(gyre_selected_kernel(context)));
            const double weight_error =
                f32_error + 4 * f32_spacing * expected.largest_score + error_of_lse(forward_kernel);
            const double delta_error = rounding_of_type(dtype);
            check_gradient("q_grad", Dense(args.q_grad, layout), expected.q, dtype, weight_error, delta_error);
            check_gradient("k_grad", Dense(args.k_grad, layout), expected.k, dtype, weight_error, delta_error);
            check_gradient("v_grad", Dense(args.v_grad, layout), expected.v, dtype, weight_error, delta_error);
            if (args.bias_grad) check_bias_gradient(expected.scores, weight_error);
        },
        threads);
}

} // namespace gyre::test
