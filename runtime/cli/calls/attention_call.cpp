#include "calls/attention_call.h"

#include "console/errors.h"
#include "files/inputs.h"
#include "options/layout.h"

#include <algorithm>
#include <numeric>

namespace gyre::cli {
namespace {

/// f16 stays f16: the library adds it as it is.
Array read_bias(const std::string &option, const std::string &path) { return read_tensor(option, path, std::nullopt); }

Extents extents(gyre_layout layout, const std::string &name, const gyre_tensor &tensor) {
    return extents_of(name, layout, Shape(tensor.shape, tensor.shape + tensor.rank));
}

/// Tokens that the rules see which depend on the length.
std::int64_t longest_sequence(const gyre_attention_args &args, std::int64_t seqlen_kv) {
    if (args.k_positions) return length_from_positions(*args.k_positions);
    if (args.page_table && args.seqused_k) {
        const auto *used = static_cast<const std::int32_t *>(args.seqused_k->data);
        const std::int64_t entries = args.seqused_k->rank == 1 ? args.seqused_k->shape[0] : 0;
        return std::accumulate(used, used + entries, std::int64_t{0},
                               [](std::int64_t most, std::int32_t keys) { return std::max<std::int64_t>(most, keys); });
    }
    if (!args.cu_seqlens_k || args.cu_seqlens_k->rank != 1) return seqlen_kv;
    const std::int32_t *begins = static_cast<const std::int32_t *>(args.cu_seqlens_k->data);
    std::int64_t longest = 0;
    for (std::int64_t i = 0; i + 1 < args.cu_seqlens_k->shape[0]; i++) {
        longest = std::max(longest, std::int64_t(begins[i + 1]) - begins[i]);
    }
    return longest;
}

} // namespace

AttentionCall::AttentionCall(const AttentionOptions &options, const AttentionTensors &tensors) {
    args_.layout = layout_of(options);
    args_.q = tensors.q;
    args_.k = tensors.k;
    args_.v = tensors.v;
    args_.out = tensors.out;
    args_.lse = tensors.lse;
    names_ = {{"q", tensors.q_name}, {"k", tensors.k_name}, {"v", tensors.v_name}, {"out", "--out"}, {"lse", "--lse"}};

    args_.scale = float(options.scale.value_or(0));
    args_.softcap = float(options.softcap.value_or(0));
    args_.causal = options.causal.has_value();
    args_.alignment = options.causal.value_or(GYRE_BOTTOM_RIGHT);
    args_.window_left = options.window_left.value_or(-1);
    args_.window_right = options.window_right.value_or(-1);
    args_.keys_rotated = options.keys_rotated;
    args_.values_rotated = options.values_rotated;
    args_.value_order = options.value_order.value_or(GYRE_VALUES_IN_ROWS);
    args_.dropout = float(options.dropout.value_or(0));
    args_.dropout_seed = options.dropout_seed.value_or(0);
    args_.dropout_offset = std::uint32_t(options.dropout_offset.value_or(0));
    names_.insert(names_.end(), options.argument_names().begin(), options.argument_names().end());
    names_.insert(names_.end(), {{"causal", "--causal"}, {"alignment", "--causal"}});
    read_tensors(options);
    set_rotations(options, tensors);
}

void AttentionCall::read_tensors(const AttentionOptions &options) {
    args_.bias = optional_tensor(options.bias, read_bias);
    args_.mask = optional_tensor(options.mask, read_mask);
    args_.sinks = optional_tensor(options.sinks, read_f32);
    args_.alibi = optional_tensor(options.alibi, read_f32);
    read_sequences(options, &args_);
    args_.page_table = optional_tensor(options.page_table, read_lengths);
}

void AttentionCall::set_rotations(const AttentionOptions &options, const AttentionTensors &tensors) {
    const gyre_layout layout = keys_layout_of(options);
    const Extents k = extents(layout, tensors.k_name, args_.k);
    const Extents v = extents(layout, tensors.v_name, args_.v);
    const std::int64_t length = longest_sequence(args_, k.seqlen);
    const std::optional<RopeConfig> config = rope_config(options.rotation);
    const char *angles = config ? "--rope" : "--theta";

    if (const std::int64_t rotary_dim = options.rotary_dim.value_or(0); rotary_dim > 0) {
        check_rotary_dim("--rotary-dim", rotary_dim, 0, k.dim);
        check_configured_dim(config, rotary_dim, k.dim);
        rotation_ = std::make_unique<Rotation>(options.rotation, config, rotary_dim, k.dim, length);
        if (config && (args_.q_positions || args_.k_positions)) use_position_axes(rotation_->rope, *config);
        args_.rope = &rotation_->rope;
    }
    if (const std::int64_t rotary_v_dim = options.rotary_v_dim.value_or(0); rotary_v_dim > 0) {
        check_rotary_dim("--rotary-v-dim", rotary_v_dim, 0, v.dim);
        value_rotation_ = std::make_unique<Rotation>(options.rotation, config, rotary_v_dim, v.dim, length);
        args_.value_rope = &value_rotation_->rope;
    }
    names_.insert(names_.end(), {{"rope", "--rotary-dim"},
                                 {"rope.rotary_dim", "--rotary-dim"},
                                 {"rope.theta", angles},
                                 {"rope.inv_freq", "--rope"},
                                 {"rope.attention_factor", "--rope"},
                                 {"rope.axes", "--rope"},
                                 {"rope.sections", "--rope"},
                                 {"value_rope", "--rotary-v-dim"},
                                 {"value_rope.rotary_dim", "--rotary-v-dim"},
                                 {"value_rope.theta", angles},
                                 {"value_rope.inv_freq", "--rope"}});
}

void AttentionCall::run(gyre_context *context) { check(gyre_attention(context, &args_), names_); }

void AttentionCall::run_backward(gyre_context *context, const GradientTensors &tensors,
                                 const gyre_tensor *bias_grad) const {
    gyre_attention_backward_args args = gyre_attention_backward_defaults();
    args.forward = &args_;
    args.out_grad = tensors.out_grad;
    args.q_grad = tensors.q_grad;
    args.k_grad = tensors.k_grad;
    args.v_grad = tensors.v_grad;
    args.bias_grad = bias_grad;
    ArgumentNames names = {{"out_grad", tensors.out_grad_name},
                           {"q_grad", "--q-grad"},
                           {"k_grad", "--k-grad"},
                           {"v_grad", "--v-grad"},
                           {"bias_grad", "--bias-grad"}};
    for (const auto &[argument, subject] : names_) names.emplace_back("forward." + argument, subject);
    check(gyre_attention_backward(context, &args), names);
}

} // namespace gyre::cli
