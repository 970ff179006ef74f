/// What every entry point does with a checked call: kernels and tables for its context, memory, and the work itself.
/// A call has prepare(context) and run(context, memory), which return a status, and workspace_bytes(context).
#pragma once
#include "core/context.h"
#include "core/entry.h"

namespace gyre {

/// Calls that share a context run one after the other.
template <typename Call, typename Arguments>
gyre_status run_call(gyre_context *given, const Arguments &args, Call &call) {
    HeldContext context;
    GYRE_TRY(context.take(given));
    context->use_current_kernels();
    GYRE_TRY(call.prepare(*context));
    char *memory;
    GYRE_TRY(acquire_workspace(args.workspace, args.workspace_size, call.workspace_bytes(*context), context->arena,
                               &memory));
    return call.run(*context, memory);
}

/// run_call() of a call whose memory is a device's: run(context) finds it itself.
template <typename Call>
gyre_status run_call_on_device(gyre_context *given, Call &call) {
    HeldContext context;
    GYRE_TRY(context.take(given));
    context->use_current_kernels();
    GYRE_TRY(call.prepare(*context));
    return call.run(*context);
}

/// What a ..._workspace_size() needs before its arguments are looked at.
inline gyre_status check_size_output(const size_t *bytes) {
    return bytes ? GYRE_OK : refuse(GYRE_BAD_ARGUMENT, "bytes", "got NULL, expected where to store the size");
}

/// Bytes of workspace, wherever it starts, with which run_call() would run.
template <typename Call>
gyre_status tell_workspace_size(gyre_context *given, Call &call, size_t *bytes) {
    HeldContext context;
    GYRE_TRY(context.take(given));
    context->use_current_kernels();
    GYRE_TRY(call.prepare(*context));
    *bytes = saturated_bytes(call.workspace_bytes(*context), workspace_slack);
    return GYRE_OK;
}

/// Ends a call whose tasks have all been run. `ok`: every kernel succeeded.
inline gyre_status finish_call(gyre_context &context, const Kernel &kernel, bool ok) {
    if (!ok) return fail(Failure::internal, "%s: the kernel failed", kernel.name);
    context.select(kernel);
    return GYRE_OK;
}

} // namespace gyre
