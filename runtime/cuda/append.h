/// gyre_cache_append() with tensors on a CUDA device: a launch for keys and one for values, which find their slots themselves.
#pragma once
#include "cache/append_call.h"
#include "cuda/launch.h"
#include "cuda/tensors.h"
#include "cuda/token_angles.h"

namespace gyre {

class AppendOnDevice {
public:
    AppendOnDevice() = default;
    AppendOnDevice(const AppendOnDevice &) = delete; // it points into itself
    AppendOnDevice &operator=(const AppendOnDevice &) = delete;

    /// Takes the arguments over. True if any of their tensors is on a device, where all of them must then be; else the call is
    /// the CPU's, and of no further use here.
    bool place(const gyre_cache_append_args &args);

    /// Checks every argument, but not what lists on the device hold. Errors: those of check_append(), and UNSUPPORTED for
    /// what no kernel on a device does.
    gyre_status check(bool need_data);

    // Of run_call_on_device() and tell_workspace_size().
    gyre_status prepare(gyre_context &context);
    size_t workspace_bytes(const gyre_context &) const { return 0; }
    gyre_status run(gyre_context &context) const;

private:
    gyre_cache_append_args args;
    cuda::CallTensors tensors;
    cuda::Device device = -1; // -1: all tensors are empty
    AppendCall call;

    gyre_status append(gyre_context &context, const cuda::Scope &scope, const Appended &t,
                       gyre_context::Frequencies &cache) const;
};

} // namespace gyre
