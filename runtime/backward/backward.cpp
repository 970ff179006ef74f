// gyre_attention_backward(): checks, forms the angles, and runs a task for every sequence and key head.
#include "arguments.h"
#include "backward/task.h"
#include "kernel_call.h"
#include "run_call.h"

#include <algorithm>

namespace gyre {
namespace {

struct BackwardPlan {
    gyre_attention_backward_args args;
    gyre_attention_args forward;
    BackwardTask task;

    gyre_status prepare(gyre_context &context);
    size_t workspace_bytes(const gyre_context &context) const {
        return table_bytes + slab_bytes * static_cast<size_t>(std::min<int64_t>(context.threads.size(),
                                                                                std::max(tasks(), fill_tasks())));
    }
    gyre_status run(gyre_context &context, char *memory);

private:
    size_t table_bytes = 0, slab_bytes = 0;

    int64_t tasks() const { return task.call.forward.sequences * task.call.forward.k.heads; }
    int64_t fill_tasks() const {
        int64_t sum = 0;
        for (const AngleTable *table : task.tables()) sum += table->on() ? table->tasks() : 0;
        return tasks() ? sum : 0;
    }
    bool fill_tables(gyre_context &context, char *memory, char *slabs);
};

gyre_status BackwardPlan::prepare(gyre_context &context) {
    const AttentionCall &c = task.call.forward;
    GYRE_TRY(find_backward_kernels(context, c, &task.kernels));
    auto &frequencies = context.frequencies;
    const bool reuse_queries = c.same_angles, reuse_keys = c.same_angles && c.rotate_keys;
    if (c.rope.on) GYRE_TRY(task.q_angles.prepare(context, c, c.rope, AngleTable::queries, frequencies[0]));
    if (c.rotate_keys) GYRE_TRY(task.k_angles.prepare(context, c, c.rope, AngleTable::keys, frequencies[0]));
    if (c.rotate_values && !reuse_keys)
        GYRE_TRY(task.v_angles.prepare(context, c, c.value_rope, AngleTable::keys, frequencies[1]));
    if (c.value_rope.on && !reuse_queries)
        GYRE_TRY(task.out_angles.prepare(context, c, c.value_rope, AngleTable::queries, frequencies[1]));
    slab_bytes = BackwardMemory(task.sizes(), nullptr).bytes;
    for (const AngleTable *table : task.tables()) {
        if (!table->on()) continue;
        table_bytes += table->bytes();
        slab_bytes = std::max(slab_bytes, round_up(table->scratch_bytes()));
    }
    return GYRE_OK;
}

bool BackwardPlan::fill_tables(gyre_context &context, char *memory, char *slabs) {
    for (AngleTable *table : task.tables()) {
        if (!table->on()) continue;
        table->place(memory);
        memory += table->bytes();
    }
    return context.threads.run_all(fill_tasks(), [&](int64_t index, int worker) {
        for (const AngleTable *table : task.tables()) {
            if (!table->on()) continue;
            if (index < table->tasks()) return table->fill(index, slabs + static_cast<size_t>(worker) * slab_bytes);
            index -= table->tasks();
        }
        return false;
    });
}

gyre_status BackwardPlan::run(gyre_context &context, char *memory) {
    char *slabs = memory + table_bytes;
    const int64_t heads = task.call.forward.k.heads;
    const bool ok =
        fill_tables(context, memory, slabs) && context.threads.run_all(tasks(), [&](int64_t index, int worker) {
            return task.run(index / heads, index % heads, slabs + static_cast<size_t>(worker) * slab_bytes);
        });
    return finish_call(context, *task.kernels.blocks->kernel, ok);
}

gyre_status check(const gyre_attention_backward_args *given, bool need_data, BackwardPlan *plan) {
    GYRE_TRY(adopt(given, "args", gyre_attention_backward_defaults(), sizeof *given, &plan->args));
    return check_backward(plan->args, need_data, &plan->forward, &plan->task.call);
}

} // namespace
} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_attention_backward(gyre_context *context, const gyre_attention_backward_args *args) {
    BackwardPlan plan;
    GYRE_TRY(check(args, true, &plan));
    return run_call(context, plan.args, plan);
}

extern "C" gyre_status gyre_attention_backward_workspace_size(gyre_context *context,
                                                              const gyre_attention_backward_args *args, size_t *bytes) {
    GYRE_TRY(check_size_output(bytes));
    BackwardPlan plan;
    GYRE_TRY(check(args, false, &plan));
    return tell_workspace_size(context, plan, bytes);
}
