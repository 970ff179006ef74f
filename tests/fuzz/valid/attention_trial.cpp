#include "attention_trial.h"
#include "attention_call.h"
#include "description.h"
#include "support/attention_allowance.h"
#include "support/backward_allowance.h"
#include "support/oracle_attention.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gyre::fuzz {
namespace {

/// A call of gyre_attention(), whose results a backward pass may go on from.
class Forward {
public:
    Forward(ByteReader &r, Store &store, const CallRules &rules)
        : arguments_(r, store, rules), prepares_mask_(may_prepare_mask() && r.rarely(2)) {}

    gyre_status call(gyre_context *context, Workspace workspace) {
        gyre_attention_args a = arguments_.given;
        a.workspace = workspace.memory;
        a.workspace_size = workspace.bytes;
        if (arguments_.in_place) {
            arguments_.out->tensor().set_values(arguments_.q->tensor().values());
            a.q = a.out;
        }
        target_ = gyre_context_target(context);
        const gyre_status status = prepares_mask_ ? prepare_mask(context, &a) : GYRE_OK;
        return status == GYRE_OK ? gyre_attention(context, &a) : status;
    }

    std::string compare(const std::string &kernel) {
        if (!expected_) expected_ = test::oracle_attention(arguments_.clean);
        const test::OracleAttention &e = *expected_;
        const test::AttentionAllowance allowed =
            test::attention_allowance(e, arguments_.clean, test::rounding_of_call(arguments_.clean, kernel, target_));
        const std::vector<double> out = test::Dense(arguments_.given.out, arguments_.plan.layout).data;
        const std::string difference = find_difference("out", out, e.out.data, allowed.out, arguments_.plan.dtype);
        if (!difference.empty() || !arguments_.lse) return difference;
        return find_difference("lse", arguments_.lse->tensor().values(), e.lse, allowed.lse);
    }

    std::string describe() const {
        return fuzz::describe(arguments_.given)
            .number("in_place", arguments_.in_place)
            .number("prepares_mask", prepares_mask_)
            .text();
    }
    AttentionArguments &arguments() { return arguments_; }
    const AttentionArguments &arguments() const { return arguments_; }

private:
    AttentionArguments arguments_;
    const bool prepares_mask_;
    std::vector<uint64_t> prepared_mask_;
    std::string target_; // of the last call

    bool may_prepare_mask() const {
        const gyre_tensor *const mask = arguments_.given.mask;
        return mask && (mask->shape[mask->rank - 1] != 1 && mask->strides[mask->rank - 1] == 1);
    }
    gyre_status prepare_mask(gyre_context *context, gyre_attention_args *a) {
        size_t bytes = 0;
        const gyre_status status = gyre_mask_prepare_size(a, &bytes);
        if (status != GYRE_OK) return status;
        prepared_mask_.assign((bytes + 7) / 8, 0x7ff8dead7ff8dead);
        const gyre_status prepared = gyre_mask_prepare(context, a, prepared_mask_.data(), bytes);
        a->prepared_mask = prepared_mask_.data();
        a->prepared_mask_size = bytes;
        return prepared;
    }
    std::optional<test::OracleAttention> expected_;
};

class AttentionTrial : public Trial {
public:
    explicit AttentionTrial(ByteReader &r) : forward_(r, store, {}) {}

    gyre_status call(gyre_context *context, Workspace workspace) override { return forward_.call(context, workspace); }
    gyre_status workspace_size(gyre_context *context, size_t *bytes) override {
        return gyre_attention_workspace_size(context, &forward_.arguments().given, bytes);
    }
    std::string compare(gyre_context *context) override { return forward_.compare(gyre_selected_kernel(context)); }
    std::string describe() const override { return forward_.describe(); }
    bool may_be_unsupported() const override { return forward_.arguments().plan.value_blocks; }

private:
    Forward forward_;
};

/// No pages, masks or sinks; lse is there; no NaN, which would be all that there is.
CallRules rules_of_backward() {
    CallRules rules;
    rules.plan.may_have_pages = false;
    rules.options.may_have_mask = false;
    rules.options.may_have_sinks = false;
    rules.may_have_nan = false;
    rules.may_be_in_place = false;
    rules.has_lse = true;
    return rules;
}

class BackwardTrial : public Trial {
public:
    explicit BackwardTrial(ByteReader &r)
        : forward_(r, store, rules_of_backward()), args_(gyre_attention_backward_defaults()) {
        const AttentionPlan &plan = forward_.arguments().plan;
        args_.forward = &forward_.arguments().given;
        args_.out_grad = random_heads(r, store, plan.outputs(), plan.dtype).view();
        q_grad_ = &random_output(r, store, "q_grad", plan.queries(), plan.dtype);
        k_grad_ = &random_output(r, store, "k_grad", plan.keys(), plan.dtype);
        v_grad_ = &random_output(r, store, "v_grad", plan.values(), plan.dtype);
        args_.q_grad = q_grad_->view();
        args_.k_grad = k_grad_->view();
        args_.v_grad = v_grad_->view();
        const gyre_tensor *const bias = args_.forward->bias;
        if (!bias || r.rarely(2)) return;
        const std::vector<int64_t> shape(bias->shape, bias->shape + bias->rank);
        bias_grad_ = &store.write("bias_grad", GYRE_F32, shape, random_placement(r, shape, {}));
        args_.bias_grad = &bias_grad_->view();
    }

    gyre_status call(gyre_context *context, Workspace workspace) override {
        const gyre_status status = forward_.call(context, {});
        if (status != GYRE_OK) return status;
        forward_kernel_ = gyre_selected_kernel(context);
        gyre_attention_backward_args a = args_;
        a.workspace = workspace.memory;
        a.workspace_size = workspace.bytes;
        return gyre_attention_backward(context, &a);
    }
    gyre_status workspace_size(gyre_context *context, size_t *bytes) override {
        return gyre_attention_backward_workspace_size(context, &args_, bytes);
    }

    std::string compare(gyre_context *context) override {
        const gyre_attention_args &clean = forward_.arguments().clean;
        const std::string difference = forward_.compare(forward_kernel_);
        if (!difference.empty()) return difference;
        if (!expected_) expected_ = test::oracle_backward(clean, args_.out_grad);
        const test::BackwardErrors errors =
            test::backward_errors(forward_kernel_, clean, gyre_selected_kernel(context));
        for (const auto &[output, gradient] : {std::pair(q_grad_, &expected_->q), std::pair(k_grad_, &expected_->k),
                                               std::pair(v_grad_, &expected_->v)}) {
            const std::vector<double> got = test::Dense(output->view(), clean.layout).data;
            const std::vector<double> allowed = test::gradient_allowance(*gradient, errors, clean.out.dtype);
            const std::string worst =
                find_difference(output->name(), got, gradient->exact.data, allowed, clean.out.dtype);
            if (!worst.empty()) return worst;
        }
        if (!bias_grad_) return "";
        const test::OracleGradient of_bias = test::bias_gradient(*expected_, bias_grad_->tensor().shape());
        return find_difference("bias_grad", bias_grad_->tensor().values(), of_bias.exact.data,
                               test::gradient_allowance(of_bias, errors, GYRE_F32));
    }
    std::string describe() const override { return forward_.describe() + fuzz::describe(args_).text(); }

private:
    Forward forward_;
    gyre_attention_backward_args args_;
    Output *q_grad_, *k_grad_, *v_grad_, *bias_grad_ = nullptr;
    std::string forward_kernel_;
    std::optional<test::OracleBackward> expected_;
};

} // namespace

std::unique_ptr<Trial> random_attention(ByteReader &r) { return std::make_unique<AttentionTrial>(r); }
std::unique_ptr<Trial> random_attention_backward(ByteReader &r) { return std::make_unique<BackwardTrial>(r); }

} // namespace gyre::fuzz
