/// gyre_rotary() and gyre_rotary_qk() with tensors on a CUDA device: one launch a tensor, which forms its angles itself.
#pragma once
#include "cuda/driver/call.h"
#include "cuda/rotary/launch.h"
#include "rotary/tensors.h"

namespace gyre::cuda {

/// The kernel and the launches of a checked rotation.
class RotaryLaunches {
public:
    RotaryCall call;

    /// Checks what RotaryCall::check() leaves out for positions that cannot be read here. Errors: BAD_ARGUMENT.
    gyre_status check_positions_data(const gyre_tensor *positions) const;

    gyre_status prepare(const gyre_context &context);

    /// Queues the launches. `device`: -1 if all tensors are empty.
    gyre_status run(gyre_context &context, Device device, void *stream) const;

private:
    const RotaryKernel *kernel = nullptr;
};

/// Args: gyre_rotary_args or gyre_rotary_qk_args.
template <typename Args>
class RotaryOnDevice : public Call<Args> {
public:
    explicit RotaryOnDevice(const Args &args) : Call<Args>(args) {}

    gyre_status check(bool need_data) override {
        GYRE_TRY(adopt_tensors(this->tensors, &this->device));
        GYRE_TRY(check_rotary(this->args, need_data, &launches.call, false));
        return need_data ? launches.check_positions_data(this->args.positions) : GYRE_OK;
    }
    gyre_status prepare(gyre_context &context) override { return launches.prepare(context); }
    size_t workspace_bytes(const gyre_context &) const override { return 0; }
    gyre_status run(gyre_context &context) override {
        return launches.run(context, this->device, this->stream_of(context));
    }

private:
    RotaryLaunches launches;
};

} // namespace gyre::cuda
