/// A call whose tensors are on a CUDA device: its context and its stream there, and the launches that its kernel asks for.
#pragma once
#include "core/kernel_arguments.h"
#include "cuda/driver/driver.h"

namespace gyre::cuda {

/// What a running kernel's user context is.
struct Launches {
    const Driver &driver;
    const Kernel &kernel;
    Stream stream;
    gyre_status status = GYRE_OK; // of the first that failed
};

/// Makes a device's CUDA context current while it lives: the caller's if one of that device is, else the device's primary one,
/// which the CUDA runtime and PyTorch use.
class Scope {
public:
    Scope() = default;
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    ~Scope();

    /// The device that holds the first of the tensors that are not empty, and the stream that the call is queued on. Errors: UNSUPPORTED,
    /// BAD_ARGUMENT (no device memory), OUT_OF_MEMORY.
    gyre_status enter(Device device, void *on);

    const Driver *driver = nullptr;
    Stream stream = nullptr;

private:
    bool pushed = false;
};

/// What a kernel's call came to. `ok`: what the kernel returned.
gyre_status finish_launch(gyre_context &context, const Launches &call, bool ok);

/// Runs a kernel with these arguments on the call's stream, and returns when it is queued. In the device's Scope.
template <typename Table>
gyre_status launch(gyre_context &context, const Scope &scope, const Kernel &kernel, KernelArguments<Table> &arguments) {
    Launches call{*scope.driver, kernel, scope.stream};
    const bool ok = arguments.call_with(kernel, &call);
    return finish_launch(context, call, ok);
}

} // namespace gyre::cuda
