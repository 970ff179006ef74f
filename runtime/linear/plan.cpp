#include "linear/plan.h"

#include "error.h"

#include <algorithm>

namespace gyre {

gyre_status LinearPlan::prepare(gyre_context &context, LinearTask *given, bool backward) {
    task = given;
    const LinearCall &call = task->call;
    const AttentionCall &c = call.heads;
    GYRE_TRY(find_linear_kernels(context, c, backward, &task->kernels));
    auto &frequencies = context.frequencies[0];
    if (c.rope.on) GYRE_TRY(task->q_angles.prepare(context, c, c.rope, AngleTable::queries, frequencies));
    if (c.rope.on && !call.same_tokens)
        GYRE_TRY(task->k_angles.prepare(context, c, c.rope, AngleTable::keys, frequencies));
    slab_bytes = LinearMemory(task->sizes(backward), nullptr).bytes;
    for (const AngleTable *table : {&task->q_angles, &task->k_angles}) {
        if (!table->on()) continue;
        table_bytes += table->bytes();
        slab_bytes = std::max(slab_bytes, round_up(table->scratch_bytes()));
    }
    return GYRE_OK;
}

int64_t LinearPlan::fill_tasks() const {
    int64_t sum = 0;
    for (const AngleTable *table : {&task->q_angles, &task->k_angles}) sum += table->on() ? table->tasks() : 0;
    return tasks() ? sum : 0;
}

size_t LinearPlan::workspace_bytes(const gyre_context &context) const {
    const int64_t busiest = std::max(tasks(), fill_tasks());
    return table_bytes + slab_bytes * static_cast<size_t>(std::min<int64_t>(context.threads.size(), busiest));
}

bool LinearPlan::fill_tables(gyre_context &context, char *memory, char *slabs) {
    for (AngleTable *table : {&task->q_angles, &task->k_angles}) {
        if (!table->on()) continue;
        table->place(memory);
        memory += table->bytes();
    }
    return context.threads.run_all(fill_tasks(), [&](int64_t index, int worker) {
        for (const AngleTable *table : {&task->q_angles, &task->k_angles}) {
            if (!table->on()) continue;
            if (index < table->tasks()) return table->fill(index, slabs + static_cast<size_t>(worker) * slab_bytes);
            index -= table->tasks();
        }
        return false;
    });
}

} // namespace gyre
