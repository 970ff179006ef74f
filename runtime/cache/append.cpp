// gyre_cache_append(): checks, and runs.
#include "cuda/append.h"
#include "cache/append_call.h"
#include "core/arguments.h"
#include "core/run_call.h"

#include <cstddef>

using namespace gyre;

namespace {

/// The size of the arguments before values could be in blocks.
constexpr size_t oldest_size = offsetof(gyre_cache_append_args, value_order);

gyre_status take(const gyre_cache_append_args *given, gyre_cache_append_args *args) {
    return adopt(given, "args", gyre_cache_append_defaults(), oldest_size, args);
}

} // namespace

extern "C" gyre_status gyre_cache_append(gyre_context *context, const gyre_cache_append_args *given) {
    return enter([&] {
        gyre_cache_append_args args;
        AppendCall call;
        AppendOnDevice on_device;
        GYRE_TRY(take(given, &args));
        if (on_device.place(args)) {
            GYRE_TRY(on_device.check(true));
            return run_call_on_device(context, on_device);
        }
        GYRE_TRY(check_append(args, true, &call));
        return run_call(context, args, call);
    });
}

extern "C" gyre_status gyre_cache_append_workspace_size(gyre_context *context, const gyre_cache_append_args *given,
                                                        size_t *bytes) {
    return enter([&] {
        GYRE_TRY(check_size_output(bytes));
        gyre_cache_append_args args;
        AppendCall call;
        AppendOnDevice on_device;
        GYRE_TRY(take(given, &args));
        if (on_device.place(args)) {
            GYRE_TRY(on_device.check(false));
            return tell_workspace_size(context, on_device, bytes);
        }
        GYRE_TRY(check_append(args, false, &call));
        return tell_workspace_size(context, call, bytes);
    });
}
