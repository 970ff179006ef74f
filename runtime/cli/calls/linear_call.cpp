#include "calls/linear_call.h"

#include "console/errors.h"
#include "files/inputs.h"
#include "options/layout.h"

namespace gyre::cli {

LinearCall::LinearCall(const LinearOptions &options, const LinearTensors &tensors) {
    args_.layout = layout_of(options);
    args_.q = tensors.q;
    args_.k = tensors.k;
    args_.v = tensors.v;
    args_.out = tensors.out;
    args_.causal = options.causal.has_value();
    names_ = {{"q", tensors.q_name},           {"k", tensors.k_name},
              {"v", tensors.v_name},           {"out", "--out"},
              {"causal", "--causal"},          {"kv_state_out", "--kv-state-out"},
              {"k_state_out", "--k-state-out"}};
    read_sequences(options, &args_);
    args_.kv_state = optional_tensor(options.kv_state, read_f32);
    args_.k_state = optional_tensor(options.k_state, read_f32);
    set_rotation(options, tensors.k_name);
}

void LinearCall::set_rotation(const LinearOptions &options, const std::string &k_name) {
    const std::optional<RopeConfig> config = rope_config(options.rotation);
    names_.insert(names_.end(), {{"rope", "--rotary-dim"},
                                 {"rope.rotary_dim", "--rotary-dim"},
                                 {"rope.theta", config ? "--rope" : "--theta"},
                                 {"rope.inv_freq", "--rope"},
                                 {"rope.attention_factor", "--rope"},
                                 {"rope.axes", "--rope"},
                                 {"rope.sections", "--rope"}});
    const std::int64_t rotary_dim = options.rotary_dim.value_or(0);
    if (rotary_dim == 0) return;
    const Extents k = extents_of(k_name, args_.layout, Shape(args_.k.shape, args_.k.shape + args_.k.rank));
    const std::int64_t length = args_.k_positions ? length_from_positions(*args_.k_positions) : k.seqlen;
    check_rotary_dim("--rotary-dim", rotary_dim, 0, k.dim);
    check_configured_dim(config, rotary_dim, k.dim);
    rotation_ = std::make_unique<Rotation>(options.rotation, config, rotary_dim, k.dim, length);
    if (config && (args_.q_positions || args_.k_positions)) use_position_axes(rotation_->rope, *config);
    args_.rope = &rotation_->rope;
}

void LinearCall::want_states(const gyre_tensor *kv_state_out, const gyre_tensor *k_state_out) {
    args_.kv_state_out = kv_state_out;
    args_.k_state_out = k_state_out;
}

void LinearCall::run(gyre_context *context) { check(gyre_linear_attention(context, &args_), names_); }

void LinearCall::run_backward(gyre_context *context, const GradientTensors &tensors) const {
    gyre_linear_attention_backward_args args = gyre_linear_attention_backward_defaults();
    args.forward = &args_;
    args.out_grad = tensors.out_grad;
    args.q_grad = tensors.q_grad;
    args.k_grad = tensors.k_grad;
    args.v_grad = tensors.v_grad;
    ArgumentNames names = {
        {"out_grad", tensors.out_grad_name}, {"q_grad", "--q-grad"}, {"k_grad", "--k-grad"}, {"v_grad", "--v-grad"}};
    for (const auto &[argument, subject] : names_) names.emplace_back("forward." + argument, subject);
    check(gyre_linear_attention_backward(context, &args), names);
}

} // namespace gyre::cli
