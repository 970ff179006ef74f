// gyre_linear_attention_backward(): checks, forms the angles, and runs a task for every sequence and key head.
#include "core/arguments.h"
#include "core/run_call.h"
#include "linear/backward_task.h"
#include "linear/plan.h"

namespace gyre {
namespace {

struct Backward {
    gyre_linear_attention_backward_args args;
    LinearBackwardTask task;
    LinearPlan plan;

    gyre_status prepare(gyre_context &context) { return plan.prepare(context, &task.forward, true); }
    size_t workspace_bytes(const gyre_context &context) const { return plan.workspace_bytes(context); }
    gyre_status run(gyre_context &context, char *memory) {
        const bool ok = plan.run(context, memory, [&](int64_t sequence, int64_t kv_head, char *slab) {
            return task.run(sequence, kv_head, slab);
        });
        return finish_call(context, *task.forward.kernels.slopes.kernel, ok);
    }
};

gyre_status check(const gyre_linear_attention_backward_args *given, bool need_data, Backward *b) {
    GYRE_TRY(adopt(given, "args", gyre_linear_attention_backward_defaults(), sizeof *given, &b->args));
    GYRE_TRY(check_linear_backward(b->args, need_data, &b->task.call));
    b->task.forward.call = b->task.call.forward;
    b->task.forward.writes_states = b->args.kv_state_grad != nullptr;
    return GYRE_OK;
}

} // namespace
} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_linear_attention_backward(gyre_context *context,
                                                      const gyre_linear_attention_backward_args *args) {
    return enter([&] {
        Backward backward;
        GYRE_TRY(check(args, true, &backward));
        return run_call(context, backward.args, backward);
    });
}

extern "C" gyre_status gyre_linear_attention_backward_workspace_size(gyre_context *context,
                                                                     const gyre_linear_attention_backward_args *args,
                                                                     size_t *bytes) {
    return enter([&] {
        GYRE_TRY(check_size_output(bytes));
        Backward backward;
        GYRE_TRY(check(args, false, &backward));
        return tell_workspace_size(context, backward, bytes);
    });
}
