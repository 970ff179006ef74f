/// What linear attention and its gradients do before their tasks run: kernels, angles, memory.
#pragma once
#include "linear/task.h"

namespace gyre {

class LinearPlan {
public:
    /// Finds kernels and prepares angles. Errors: UNSUPPORTED, OUT_OF_MEMORY.
    gyre_status prepare(gyre_context &context, LinearTask *task, bool backward);

    size_t workspace_bytes(const gyre_context &context) const;

    /// Fills the tables, then runs run_task(sequence, first_head, memory) of all.
    template <typename RunTask>
    bool run(gyre_context &context, char *memory, const RunTask &run_task) {
        char *slabs = memory + table_bytes;
        const int64_t groups = head_groups();
        return fill_tables(context, memory, slabs) && context.threads.run_all(tasks(), [&](int64_t index, int worker) {
            return run_task(index / groups, index % groups * task->heads,
                            slabs + static_cast<size_t>(worker) * slab_bytes);
        });
    }

private:
    LinearTask *task = nullptr;
    size_t table_bytes = 0, slab_bytes = 0;

    int64_t head_groups() const { return ceil_div(task->call.heads.k.heads, task->heads); }
    int64_t tasks() const {
        const AttentionCall &c = task->call.heads;
        return c.q.empty() && c.k.empty() && !task->writes_states ? 0 : c.sequences * head_groups();
    }
    int64_t fill_tasks() const { return tasks() ? task->angles.tasks() : 0; }
    bool fill_tables(gyre_context &context, char *memory, char *slabs);
};

} // namespace gyre
