/// What an operation asks of a device beside the CPU: whether it can run a call, the call's workspace, and to run it.
#pragma once
#include "core/context.h"

#include <memory>

namespace gyre {

/// A call whose tensors are on a device. run_operation() calls its functions in this order.
class DeviceCall {
public:
    DeviceCall() = default;
    DeviceCall(const DeviceCall &) = delete; // its arguments point into it
    DeviceCall &operator=(const DeviceCall &) = delete;
    virtual ~DeviceCall() = default;

    /// Checks every argument, but not what lists on the device hold. With `need_data` false data pointers may be NULL. Errors: those
    /// of the operation's own check; UNSUPPORTED (tensors elsewhere, or what no kernel of the device does), BAD_ARGUMENT (memory that
    /// is not the device's).
    virtual gyre_status check(bool need_data) = 0;

    /// Chooses kernels. Errors: UNSUPPORTED (none is linked), OUT_OF_MEMORY.
    virtual gyre_status prepare(gyre_context &context) = 0;

    /// The size of its workspace, which is memory of the device.
    virtual size_t workspace_bytes(const gyre_context &context) const = 0;

    /// Queues the work on the call's stream, in the workspace that the arguments name or in the stream's own memory.
    virtual gyre_status run(gyre_context &context) = 0;
};

/// A kind of device. It has a call for the arguments of each operation that it has kernels for.
class Device {
public:
    /// Whether targets ask for such devices by this feature, and whether this machine has one that offers it.
    virtual bool names(std::string_view feature) const = 0;
    virtual bool is_available(std::string_view feature) const = 0;

    virtual std::unique_ptr<DeviceCall> call(const gyre_rotary_args &args) const = 0;
    virtual std::unique_ptr<DeviceCall> call(const gyre_rotary_qk_args &args) const = 0;
    virtual std::unique_ptr<DeviceCall> call(const gyre_cache_append_args &args) const = 0;
    virtual std::unique_ptr<DeviceCall> call(const gyre_attention_args &args) const = 0;
    virtual std::unique_ptr<DeviceCall> call(const gyre_attention_merge_args &args) const = 0;
    virtual std::unique_ptr<DeviceCall> call(const gyre_attention_backward_args &args) const = 0;
    virtual std::unique_ptr<DeviceCall> call(const gyre_linear_attention_args &args) const = 0;

    /// Queues a kernel of a program's own on device number `ordinal`. `arguments` has room for the user context in front.
    virtual gyre_status run(const gyre_kernel &kernel, void **arguments, int32_t ordinal, void *stream) const = 0;

protected:
    ~Device() = default;
};

/// The device that this build has beside the CPU: cuda/device.cpp's, or nullptr by no_device.cpp.
const Device *linked_device();

} // namespace gyre
