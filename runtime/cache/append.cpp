// gyre_cache_append(): checks, and runs.
#include "arguments.h"
#include "cache/append_call.h"
#include "run_call.h"

#include <cstddef>

using namespace gyre;

namespace {

/// Of the arguments before values could be in blocks.
constexpr size_t oldest_size = offsetof(gyre_cache_append_args, value_order);

gyre_status check(const gyre_cache_append_args *given, bool need_data, gyre_cache_append_args *a, AppendCall *call) {
    GYRE_TRY(adopt(given, "args", gyre_cache_append_defaults(), oldest_size, a));
    return check_append(*a, need_data, call);
}

} // namespace

extern "C" gyre_status gyre_cache_append(gyre_context *context, const gyre_cache_append_args *given) {
    gyre_cache_append_args args;
    AppendCall call;
    GYRE_TRY(check(given, true, &args, &call));
    return run_call(context, args, call);
}

extern "C" gyre_status gyre_cache_append_workspace_size(gyre_context *context, const gyre_cache_append_args *given,
                                                        size_t *bytes) {
    GYRE_TRY(check_size_output(bytes));
    gyre_cache_append_args args;
    AppendCall call;
    GYRE_TRY(check(given, false, &args, &call));
    return tell_workspace_size(context, call, bytes);
}
