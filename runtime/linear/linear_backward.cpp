// gyre_linear_attention_backward(): checks, forms the angles, and runs a task for every sequence and key head.
#include "core/arguments.h"
#include "core/run_call.h"
#include "linear/backward_task.h"
#include "linear/plan.h"
#include "linear/tensors.h"

namespace gyre {
namespace {

struct LinearBackwardOnCpu {
    using Arguments = gyre_linear_attention_backward_args;
    static constexpr bool on_devices = false;
    Arguments args;
    gyre_linear_attention_args forward;
    LinearBackwardTask task;
    LinearPlan plan;

    static gyre_status take(const Arguments *given, Arguments *args) {
        return adopt(given, "args", gyre_linear_attention_backward_defaults(), sizeof *args, args);
    }
    gyre_status check(bool need_data) {
        GYRE_TRY(check_linear_backward(args, need_data, &forward, &task.call));
        task.forward.call = task.call.forward;
        task.forward.writes_states = args.kv_state_grad != nullptr;
        return GYRE_OK;
    }
    gyre_status prepare(gyre_context &context) { return plan.prepare(context, &task.forward, true); }
    size_t workspace_bytes(const gyre_context &context) const { return plan.workspace_bytes(context); }
    void visit_tensors(WorkspaceApart &visit) {
        each_tensor(args, visit);
        visit.structure = "forward.";
        each_input(forward, visit);
    }
    gyre_status run(gyre_context &context, char *memory) {
        const bool ok = plan.run(context, memory, [&](int64_t sequence, int64_t kv_head, char *slab) {
            return task.run(sequence, kv_head, slab);
        });
        return finish_call(context, *task.forward.kernels.slopes.kernel, ok);
    }
};

} // namespace
} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_linear_attention_backward(gyre_context *context,
                                                      const gyre_linear_attention_backward_args *args) {
    return run_operation<LinearBackwardOnCpu>(context, args);
}

extern "C" gyre_status gyre_linear_attention_backward_workspace_size(gyre_context *context,
                                                                     const gyre_linear_attention_backward_args *args,
                                                                     size_t *bytes) {
    return tell_operation_size<LinearBackwardOnCpu>(context, args, bytes);
}
