/// Makes the library's arguments of the options of gyre linear-attention (and gyre bench linear-attention).
#pragma once

#include "calls/argument_tensors.h"
#include "options/gradient_options.h"
#include "options/linear_options.h"

#include <memory>
#include <string>

namespace gyre::cli {

/// Views of memory, and the option (and file) that each came from.
struct LinearTensors {
    gyre_tensor q, k, v, out;
    std::string q_name, k_name, v_name;
};

/// Arguments and what they point to.
class LinearCall : private ArgumentTensors {
public:
    /// The tensors' memory must outlive this. The options were checked by check_combinations(). Throws UsageError.
    LinearCall(const LinearOptions &options, const LinearTensors &tensors);
    LinearCall(const LinearCall &) = delete;
    LinearCall &operator=(const LinearCall &) = delete;

    /// What the call leaves as states; their memory must outlive this.
    void want_states(const gyre_tensor *kv_state_out, const gyre_tensor *k_state_out);

    /// Throws UsageError for what the library refuses, by the options' names.
    void run(gyre_context *context);

    /// The gradients. Throws as run() does.
    void run_backward(gyre_context *context, const GradientTensors &tensors) const;

    const gyre_linear_attention_args &args() const { return args_; }

private:
    void set_rotation(const LinearOptions &options, const std::string &k_name);

    gyre_linear_attention_args args_ = gyre_linear_attention_defaults();
    std::unique_ptr<Rotation> rotation_;
};

} // namespace gyre::cli
