/// gyre_attention_backward() with tensors on a CUDA device: a launch for what out and its gradient come to in each row, and one for each
/// gradient, before which operands that are rotated are written once, and after which gradients are stored, rotated back.
#pragma once
#include "backward/call.h"
#include "backward/tensors.h"
#include "cuda/driver/call.h"
#include "cuda/rows/gradients.h"

namespace gyre::cuda {

/// One of the kernels that form gradients.
struct GradientKernel {
    const Kernel *kernel = nullptr;
    std::string_view of;  // queries, keys or values
    bool general = false; // takes a cap, ALiBi, a bias and dropout
    gyre_dtype dtype = GYRE_F32;
    int64_t head_dim = 0, task_rows = 0;
    ArgumentPlaces places;
};

class BackwardOnDevice : public Call<gyre_attention_backward_args> {
public:
    explicit BackwardOnDevice(const gyre_attention_backward_args &args) : Call(args) {}

    gyre_status check(bool need_data) override;
    gyre_status prepare(gyre_context &context) override;
    size_t workspace_bytes(const gyre_context &context) const override;
    gyre_status run(gyre_context &context) override;

private:
    gyre_attention_args forward;
    CallTensors forward_tensors;
    BackwardCall call;
    const Kernel *delta_kernel = nullptr;
    DenseRows q, k, v, out_grad;
    /// One of the three: its kernel, and where it goes.
    struct Gradient {
        const char *of, *name;
        const GradientKernel *kernel = nullptr;
        GradientRows rows{};
        size_t cache = 0; // of the context's frequencies
    };
    Gradient gradients[3] = {{"queries", "q_grad"}, {"keys", "k_grad"}, {"values", "v_grad"}};

    gyre_status refuse_unsupported() const;
    gyre_status check_reach() const;
    gyre_status find_kernels(const gyre_context &context);
    Rotated keys_by(const Rotation &rotation, bool on, const char *name) const;
    size_t delta_bytes() const;
    size_t gradient_bytes() const;
    bool is_general() const;
    bool rows_in_reach() const;
    gyre_status form(gyre_context &context, const Scope &scope, char *delta, char *memory);
    gyre_status launch_delta(gyre_context &context, const Scope &scope, float *delta, int64_t first,
                             int64_t batches) const;
    gyre_status launch_gradient(gyre_context &context, const Scope &scope, const Gradient &gradient, const float *delta,
                                int64_t first, int64_t batches) const;
};

} // namespace gyre::cuda
