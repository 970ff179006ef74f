// gyre_linear_attention(): checks, forms the angles, and runs a task for every sequence and key head.
#include "core/arguments.h"
#include "core/run_call.h"
#include "linear/plan.h"

namespace gyre {
namespace {

struct Forward {
    gyre_linear_attention_args args;
    LinearTask task;
    LinearPlan plan;

    gyre_status prepare(gyre_context &context) { return plan.prepare(context, &task, false); }
    size_t workspace_bytes(const gyre_context &context) const { return plan.workspace_bytes(context); }
    gyre_status run(gyre_context &context, char *memory) {
        const bool ok = plan.run(context, memory, [&](int64_t sequence, int64_t first_head, char *slab) {
            return task.run(sequence, first_head, slab);
        });
        return finish_call(context, *task.kernels.linear.kernel, ok);
    }
};

gyre_status check(const gyre_linear_attention_args *given, bool need_data, Forward *f) {
    GYRE_TRY(adopt(given, "args", gyre_linear_attention_defaults(), sizeof *given, &f->args));
    GYRE_TRY(check_linear(f->args, need_data, &f->task.call));
    f->task.writes_states = f->args.kv_state_out != nullptr;
    return GYRE_OK;
}

} // namespace
} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_linear_attention(gyre_context *context, const gyre_linear_attention_args *args) {
    return enter([&] {
        Forward forward;
        GYRE_TRY(check(args, true, &forward));
        return run_call(context, forward.args, forward);
    });
}

extern "C" gyre_status gyre_linear_attention_workspace_size(gyre_context *context,
                                                            const gyre_linear_attention_args *args, size_t *bytes) {
    return enter([&] {
        GYRE_TRY(check_size_output(bytes));
        Forward forward;
        GYRE_TRY(check(args, false, &forward));
        return tell_workspace_size(context, forward, bytes);
    });
}
