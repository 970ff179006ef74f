/// What every entry point does: takes the arguments over, finds where their tensors are, checks them, chooses kernels and tables for the
/// context, finds memory, and runs. An operation is a class Call of its call on the CPU, with `Arguments`, `args` of that type, and
///
///     on_devices                    whether devices have kernels for it: each_tensor() (call_tensors.h) and Device::call() then exist
///     take(given, &args)            adopts the caller's arguments
///     check(need_data)              checks all of them; with `need_data` false data pointers may be NULL
///     prepare(context)              chooses kernels and tables
///     workspace_bytes(context)
///     visit_tensors(visit)          tells every tensor of a checked call to a WorkspaceApart
///     run(context, memory)
#pragma once
#include "core/call_tensors.h"
#include "core/device.h"
#include "core/entry.h"
#include "core/workspace_apart.h"

#include <memory>

namespace gyre {

/// Prepares a checked call for the context, and hands the context to `use`. Calls that share one run one after the other.
template <typename Call, typename Use>
gyre_status with_prepared_call(gyre_context *given, Call &call, const Use &use) {
    HeldContext context;
    GYRE_TRY(context.take(given));
    context->use_current_kernels();
    GYRE_TRY(call.prepare(*context));
    return use(*context);
}

/// Does a checked call on the CPU.
template <typename Call>
gyre_status run_call(gyre_context *given, Call &call) {
    return with_prepared_call(given, call, [&](gyre_context &context) {
        char *memory;
        const size_t bytes = call.workspace_bytes(context);
        GYRE_TRY(acquire_workspace(call.args.workspace, call.args.workspace_size, bytes, context.arena, &memory));
        if (call.args.workspace && bytes) {
            WorkspaceApart apart(memory, bytes);
            call.visit_tensors(apart);
            GYRE_TRY(apart.status);
        }
        return call.run(context, memory);
    });
}

/// Does a checked call on a device, which finds its workspace itself.
inline gyre_status run_call(gyre_context *given, DeviceCall &call) {
    return with_prepared_call(given, call, [&](gyre_context &context) { return call.run(context); });
}

/// Tells with how many bytes of workspace, wherever it starts, run_call() would run.
template <typename Call>
gyre_status tell_workspace_size(gyre_context *given, Call &call, size_t *bytes) {
    return with_prepared_call(given, call, [&](gyre_context &context) {
        *bytes = saturated_bytes(call.workspace_bytes(context), workspace_slack);
        return GYRE_OK;
    });
}

/// Makes a device's call for tensors of which `name` is the first on a device. Errors: UNSUPPORTED (this build knows no device).
template <typename Arguments>
gyre_status make_device_call(const Arguments &args, const char *name, std::unique_ptr<DeviceCall> *call) {
    const Device *device = linked_device();
    if (!device) return refuse(GYRE_UNSUPPORTED, name, "is on a CUDA device, but this library was built without CUDA");
    *call = device->call(args);
    return GYRE_OK;
}

/// Checks a call where its tensors are, and hands it to `use`: a Call, or a DeviceCall.
template <typename Call, typename Use>
gyre_status with_checked_call(const typename Call::Arguments *given, bool need_data, const Use &use) {
    Call call;
    GYRE_TRY(Call::take(given, &call.args));
    if constexpr (Call::on_devices) {
        FirstOnDevice first;
        each_tensor(call.args, first);
        if (first.name) {
            std::unique_ptr<DeviceCall> on_device;
            GYRE_TRY(make_device_call(call.args, first.name, &on_device));
            GYRE_TRY(on_device->check(need_data));
            return use(*on_device);
        }
    }
    GYRE_TRY(call.check(need_data));
    return use(call);
}

/// Does what gyre_foo(context, args) does.
template <typename Call>
gyre_status run_operation(gyre_context *context, const typename Call::Arguments *given) {
    return enter(
        [&] { return with_checked_call<Call>(given, true, [&](auto &call) { return run_call(context, call); }); });
}

/// Does what gyre_foo_workspace_size(context, args, bytes) does.
template <typename Call>
gyre_status tell_operation_size(gyre_context *context, const typename Call::Arguments *given, size_t *bytes) {
    return enter([&] {
        if (!bytes) return refuse(GYRE_BAD_ARGUMENT, "bytes", "got NULL, expected where to store the size");
        return with_checked_call<Call>(given, false,
                                       [&](auto &call) { return tell_workspace_size(context, call, bytes); });
    });
}

/// Ends a call whose tasks have all been run. `ok`: every kernel succeeded.
inline gyre_status finish_call(gyre_context &context, const Kernel &kernel, bool ok) {
    if (!ok) return fail(Failure::internal, "%s: the kernel failed", kernel.name);
    context.select(kernel);
    return GYRE_OK;
}

} // namespace gyre
