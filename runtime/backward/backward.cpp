// gyre_attention_backward(): checks, forms the angles, and runs a task for every sequence and key head.
#include "attention/call/tensors.h"
#include "backward/task.h"
#include "backward/tensors.h"
#include "core/arguments.h"
#include "core/kernel_call.h"
#include "core/run_call.h"

#include <algorithm>
#include <cstddef>

namespace gyre {
namespace {

/// The size of the arguments before there were gradients of a bias.
constexpr size_t oldest_size = offsetof(gyre_attention_backward_args, bias_grad);

struct BackwardOnCpu {
    using Arguments = gyre_attention_backward_args;
    static constexpr bool on_devices = true;
    Arguments args;
    gyre_attention_args forward;
    BackwardTask task;

    static gyre_status take(const Arguments *given, Arguments *args) {
        return adopt(given, "args", gyre_attention_backward_defaults(), oldest_size, args);
    }
    gyre_status check(bool need_data) { return check_backward(args, need_data, &forward, &task.call); }
    gyre_status prepare(gyre_context &context);
    size_t workspace_bytes(const gyre_context &context) const {
        return saturated_bytes(
            table_bytes, bytes_of_slabs(slab_bytes, context.threads.size(), std::max(task.count(), fill_tasks())));
    }
    void visit_tensors(WorkspaceApart &visit) {
        each_tensor(args, visit);
        visit.structure = "forward.";
        each_tensor(forward, visit);
    }
    gyre_status run(gyre_context &context, char *memory);

private:
    size_t table_bytes = 0, slab_bytes = 0;

    int64_t fill_tasks() const { return task.count() ? task.angles.tasks() : 0; }
};

gyre_status BackwardOnCpu::prepare(gyre_context &context) {
    take_target(context, &task.call.forward);
    const AttentionCall &c = task.call.forward;
    GYRE_TRY(find_backward_kernels(context, c, &task.kernels));
    GYRE_TRY(task.angles.prepare(context, c));
    table_bytes = task.angles.bytes();
    slab_bytes = std::max(task.bytes(), round_up(task.angles.scratch_bytes()));
    return GYRE_OK;
}

gyre_status BackwardOnCpu::run(gyre_context &context, char *memory) {
    char *slabs = memory + table_bytes;
    task.rounding = find_forward_rounding(context, task.call.forward);
    task.normalizes = task.kernels.totals && forward_splits_numbers(context, task.call.forward);
    task.clear_bias_gradient();
    const bool filled = fill_tasks() == 0 || task.angles.fill(context, memory, slabs, slab_bytes);
    const bool ok = filled && context.threads.run_all(task.count(), [&](int64_t index, int worker) {
        return task.run(index, slabs + static_cast<size_t>(worker) * slab_bytes);
    });
    return finish_call(context, *task.selected().kernel, ok);
}

} // namespace
} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_attention_backward(gyre_context *context, const gyre_attention_backward_args *args) {
    return run_operation<BackwardOnCpu>(context, args);
}

extern "C" gyre_status gyre_attention_backward_workspace_size(gyre_context *context,
                                                              const gyre_attention_backward_args *args, size_t *bytes) {
    return tell_operation_size<BackwardOnCpu>(context, args, bytes);
}
