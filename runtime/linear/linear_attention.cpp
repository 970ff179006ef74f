// gyre_linear_attention(): checks, forms the angles, and runs a task for every sequence and key head.
#include "core/arguments.h"
#include "core/run_call.h"
#include "linear/plan.h"
#include "linear/tensors.h"

namespace gyre {
namespace {

struct LinearOnCpu {
    using Arguments = gyre_linear_attention_args;
    static constexpr bool on_devices = true;
    Arguments args;
    LinearTask task;
    LinearPlan plan;

    static gyre_status take(const Arguments *given, Arguments *args) {
        return adopt(given, "args", gyre_linear_attention_defaults(), sizeof *args, args);
    }
    gyre_status check(bool need_data) {
        GYRE_TRY(check_linear(args, need_data, &task.call));
        task.writes_states = args.kv_state_out != nullptr;
        return GYRE_OK;
    }
    gyre_status prepare(gyre_context &context) { return plan.prepare(context, &task, false); }
    size_t workspace_bytes(const gyre_context &context) const { return plan.workspace_bytes(context); }
    void visit_tensors(WorkspaceApart &visit) { each_tensor(args, visit); }
    gyre_status run(gyre_context &context, char *memory) {
        const bool ok = plan.run(context, memory, [&](int64_t sequence, int64_t first_head, char *slab) {
            return task.run(sequence, first_head, slab);
        });
        return finish_call(context, *task.kernels.linear.kernel, ok);
    }
};

} // namespace
} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_linear_attention(gyre_context *context, const gyre_linear_attention_args *args) {
    return run_operation<LinearOnCpu>(context, args);
}

extern "C" gyre_status gyre_linear_attention_workspace_size(gyre_context *context,
                                                            const gyre_linear_attention_args *args, size_t *bytes) {
    return tell_operation_size<LinearOnCpu>(context, args, bytes);
}
