#include "linear_trial.h"
#include "description.h"
#include "linear_call.h"
#include "support/linear_allowance.h"
#include "support/random.h"

#include <optional>

namespace gyre::fuzz {
namespace {

class LinearTrial : public Trial {
public:
    explicit LinearTrial(ByteReader &r) : arguments_(r, store) {
        if (r.rarely(2)) return;
        kv_state_ = &store.write("kv_state_out", GYRE_F32, arguments_.kv_state_shape,
                                 random_placement(r, arguments_.kv_state_shape, {}));
        k_state_ = &store.write("k_state_out", GYRE_F32, arguments_.k_state_shape,
                                random_placement(r, arguments_.k_state_shape, {}));
        arguments_.given.kv_state_out = &kv_state_->view();
        arguments_.given.k_state_out = &k_state_->view();
        in_place_ = arguments_.given.kv_state && r.rarely(2);
    }

    gyre_status call(gyre_context *context, Workspace workspace) override {
        gyre_linear_attention_args a = arguments_.given;
        a.workspace = workspace.memory;
        a.workspace_size = workspace.bytes;
        if (in_place_) {
            kv_state_->tensor().set_values(test::values_of(*a.kv_state));
            k_state_->tensor().set_values(test::values_of(*a.k_state));
            a.kv_state = a.kv_state_out;
            a.k_state = a.k_state_out;
        }
        return gyre_linear_attention(context, &a);
    }
    gyre_status workspace_size(gyre_context *context, size_t *bytes) override {
        return gyre_linear_attention_workspace_size(context, &arguments_.given, bytes);
    }
    std::string compare(gyre_context *) override {
        const gyre_linear_attention_args &clean = arguments_.clean;
        if (!expected_) expected_ = test::oracle_linear(clean);
        const double relative = test::linear_error(clean);
        const auto difference = [&](const char *name, const std::vector<double> &got,
                                    const test::OracleNumbers &expected, gyre_dtype dtype) {
            return find_difference(name, got, expected.exact, test::linear_allowance(expected, dtype, relative));
        };
        std::string worst =
            difference("out", test::Dense(clean.out, clean.layout).data, expected_->out, clean.out.dtype);
        if (!worst.empty() || !kv_state_) return worst;
        worst = difference("kv_state_out", kv_state_->tensor().values(), expected_->kv_state, GYRE_F32);
        if (!worst.empty()) return worst;
        return difference("k_state_out", k_state_->tensor().values(), expected_->k_state, GYRE_F32);
    }
    std::string describe() const override {
        return fuzz::describe(arguments_.given).number("in_place", in_place_).text();
    }

private:
    LinearArguments arguments_;
    Output *kv_state_ = nullptr, *k_state_ = nullptr;
    bool in_place_ = false;
    std::optional<test::OracleLinear> expected_;
};

class LinearBackwardTrial : public Trial {
public:
    explicit LinearBackwardTrial(ByteReader &r)
        : arguments_(r, store), args_(gyre_linear_attention_backward_defaults()) {
        const AttentionPlan &plan = arguments_.plan;
        args_.forward = &arguments_.given;
        args_.out_grad = random_heads(r, store, plan.outputs(), plan.dtype).view();
        args_.q_grad = random_output(r, store, "q_grad", plan.queries(), plan.dtype).view();
        args_.k_grad = random_output(r, store, "k_grad", plan.keys(), plan.dtype).view();
        args_.v_grad = random_output(r, store, "v_grad", plan.values(), plan.dtype).view();
        if (r.rarely(2)) {
            args_.kv_state_out_grad = &random_state(r, arguments_.kv_state_shape).view();
            args_.k_state_out_grad = &random_state(r, arguments_.k_state_shape).view();
        }
        if (!arguments_.given.kv_state || r.rarely(2)) return;
        kv_state_grad_ = &store.write("kv_state_grad", GYRE_F32, arguments_.kv_state_shape);
        k_state_grad_ = &store.write("k_state_grad", GYRE_F32, arguments_.k_state_shape);
        args_.kv_state_grad = &kv_state_grad_->view();
        args_.k_state_grad = &k_state_grad_->view();
    }

    gyre_status call(gyre_context *context, Workspace workspace) override {
        gyre_linear_attention_backward_args a = args_;
        a.workspace = workspace.memory;
        a.workspace_size = workspace.bytes;
        return gyre_linear_attention_backward(context, &a);
    }
    gyre_status workspace_size(gyre_context *context, size_t *bytes) override {
        return gyre_linear_attention_backward_workspace_size(context, &args_, bytes);
    }
    std::string compare(gyre_context *) override {
        const gyre_linear_attention_args &clean = arguments_.clean;
        if (!expected_) {
            gyre_linear_attention_backward_args a = args_;
            a.forward = &clean;
            expected_ = test::oracle_linear_backward(a);
        }
        const double relative = 2 * test::linear_error(clean);
        const auto difference = [&](const char *name, const gyre_tensor &got, const test::OracleNumbers &expected) {
            return find_difference(name, test::Dense(got, clean.layout).data, expected.exact,
                                   test::linear_allowance(expected, clean.out.dtype, relative));
        };
        std::string worst = difference("q_grad", args_.q_grad, expected_->q);
        if (worst.empty()) worst = difference("k_grad", args_.k_grad, expected_->k);
        if (worst.empty()) worst = difference("v_grad", args_.v_grad, expected_->v);
        if (!worst.empty() || !kv_state_grad_) return worst;
        worst = find_difference("kv_state_grad", kv_state_grad_->tensor().values(), expected_->kv_state.exact,
                                test::linear_allowance(expected_->kv_state, GYRE_F32, relative));
        if (!worst.empty()) return worst;
        return find_difference("k_state_grad", k_state_grad_->tensor().values(), expected_->k_state.exact,
                               test::linear_allowance(expected_->k_state, GYRE_F32, relative));
    }
    std::string describe() const override {
        return fuzz::describe(arguments_.given).text() + fuzz::describe(args_).text();
    }

private:
    LinearArguments arguments_;
    gyre_linear_attention_backward_args args_;
    Output *kv_state_grad_ = nullptr, *k_state_grad_ = nullptr;
    std::optional<test::OracleLinearBackward> expected_;

    Input &random_state(ByteReader &r, const std::vector<int64_t> &shape) {
        int64_t count = 1;
        for (const int64_t extent : shape) count *= extent;
        return store.read(GYRE_F32, shape, random_placement(r, shape, {}), random_numbers(r, count));
    }
};

} // namespace

std::unique_ptr<Trial> random_linear(ByteReader &r) { return std::make_unique<LinearTrial>(r); }
std::unique_ptr<Trial> random_linear_backward(ByteReader &r) { return std::make_unique<LinearBackwardTrial>(r); }

} // namespace gyre::fuzz
