// gyre_cache_append(): checks, and runs.
#include "cache/append_call.h"
#include "cache/tensors.h"
#include "core/arguments.h"
#include "core/run_call.h"

#include <cstddef>

using namespace gyre;

namespace {

/// The size of the arguments before values could be in blocks.
constexpr size_t oldest_size = offsetof(gyre_cache_append_args, value_order);

struct AppendOnCpu {
    using Arguments = gyre_cache_append_args;
    static constexpr bool on_devices = true;
    Arguments args;
    AppendCall call;

    static gyre_status take(const Arguments *given, Arguments *args) {
        return adopt(given, "args", gyre_cache_append_defaults(), oldest_size, args);
    }
    gyre_status check(bool need_data) { return check_append(args, need_data, &call); }
    gyre_status prepare(gyre_context &context) { return call.prepare(context); }
    size_t workspace_bytes(const gyre_context &context) const { return call.workspace_bytes(context); }
    void visit_tensors(WorkspaceApart &visit) { each_tensor(args, visit); }
    gyre_status run(gyre_context &context, char *memory) const { return call.run(context, memory); }
};

} // namespace

extern "C" gyre_status gyre_cache_append(gyre_context *context, const gyre_cache_append_args *args) {
    return run_operation<AppendOnCpu>(context, args);
}

extern "C" gyre_status gyre_cache_append_workspace_size(gyre_context *context, const gyre_cache_append_args *args,
                                                        size_t *bytes) {
    return tell_operation_size<AppendOnCpu>(context, args, bytes);
}
