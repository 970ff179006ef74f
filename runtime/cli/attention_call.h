/// From the options of gyre attention (and gyre bench attention) to the arguments of gyre_attention().
#pragma once

#include "array.h"
#include "attention_options.h"
#include "library_errors.h"

#include <memory>
#include <optional>
#include <string>

namespace gyre::cli {

/// Views of memory, and the option (and file) that each came from.
struct AttentionTensors {
    gyre_tensor q, k, v, out;
    const gyre_tensor *lse = nullptr;
    std::string q_name, k_name, v_name;
};

/// The same of the backward pass.
struct GradientTensors {
    gyre_tensor out_grad, q_grad, k_grad, v_grad;
    std::string out_grad_name;
};

/// Arguments and what they point to.
class AttentionCall {
public:
    /// The tensors' memory must outlive this. The options were checked by check_combinations(). Throws UsageError.
    AttentionCall(const AttentionOptions &options, const AttentionTensors &tensors);
    AttentionCall(const AttentionCall &) = delete;
    AttentionCall &operator=(const AttentionCall &) = delete;

    /// Throws UsageError for what the library refuses, by the options' names.
    void run(gyre_context *context);

    /// The gradients, after run() with an lse. Throws as run() does.
    void run_backward(gyre_context *context, const GradientTensors &tensors) const;

    const gyre_attention_args &args() const { return args_; }

private:
    using Reader = Array (*)(const std::string &option, const std::string &path);
    const gyre_tensor *optional_tensor(const char *argument, const char *option, const std::string &path, Reader read);
    void read_tensors(const AttentionOptions &options);
    void set_rotations(const AttentionOptions &options, const AttentionTensors &tensors);

    gyre_attention_args args_ = gyre_attention_defaults();
    ArgumentNames names_;
    TensorStore store_;
    std::unique_ptr<Rotation> rotation_, value_rotation_;
};

} // namespace gyre::cli
