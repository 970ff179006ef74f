/// Makes the arguments of gyre_attention() of the options of gyre attention (and gyre bench attention).
#pragma once

#include "calls/argument_tensors.h"
#include "calls/attention_probabilities.h"
#include "options/attention_options.h"
#include "options/gradient_options.h"

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

/// Arguments and what they point to.
class AttentionCall : private ArgumentTensors {
public:
    /// The tensors' memory must outlive this. The options were checked by check_combinations(). Throws UsageError.
    AttentionCall(const AttentionOptions &options, const AttentionTensors &tensors);
    AttentionCall(const AttentionCall &) = delete;
    AttentionCall &operator=(const AttentionCall &) = delete;

    /// Throws UsageError for what the library refuses, by the options' names.
    void run(gyre_context *context);

    /// The gradients, after run() with an lse; bias_grad: f32, or NULL. Throws as run() does.
    void run_backward(gyre_context *context, const GradientTensors &tensors, const gyre_tensor *bias_grad) const;

    /// After run(): see attention_probabilities().
    Array probabilities(gyre_context *context) const { return attention_probabilities(context, args_, names_); }

    const gyre_attention_args &args() const { return args_; }

private:
    void read_tensors(const AttentionOptions &options);
    void set_rotations(const AttentionOptions &options, const AttentionTensors &tensors);

    gyre_attention_args args_ = gyre_attention_defaults();
    std::unique_ptr<Rotation> rotation_, value_rotation_;
};

} // namespace gyre::cli
