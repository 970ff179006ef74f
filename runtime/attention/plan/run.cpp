// The tasks of an attention call, and the memory in which they run.
#include "attention/plan/plan.h"
#include "core/run_call.h"

#include <algorithm>

namespace gyre {

int64_t Plan::tasks() const {
    if (task.call.empty()) return 0;
    return task.call.sequences * task.key_head_runs() * task.head_runs() * tiles * split.parts();
}

int64_t Plan::fill_tasks() const { return task.call.empty() ? 0 : task.angles.tasks(); }

int64_t Plan::form_tasks() const { return task.call.empty() ? 0 : task.operands.tasks(task.call); }

size_t Plan::workspace_bytes(const gyre_context &context) const {
    const int64_t busiest = std::max({tasks(), fill_tasks(), form_tasks(), split.tasks(task)});
    return saturated_bytes(split.bytes() + table_bytes + term_bytes + order.bytes() + task.operands.bytes(),
                           bytes_of_slabs(slab_bytes, context.threads.size(), busiest));
}

gyre_status Plan::run(gyre_context &context, char *memory) {
    split.place(memory, &task);
    char *tables = memory + split.bytes(), *terms = tables + table_bytes, *sequences = terms + term_bytes;
    char *operands = sequences + order.bytes();
    task.terms.form(task.call, terms);
    order.form(task, sequences);
    char *slabs = operands + task.operands.bytes();
    task.operands.place(operands);
    const bool filled = fill_tasks() == 0 || task.angles.fill(context, tables, slabs, slab_bytes);
    const bool formed = filled && form_operands(context, slabs);
    if (formed && task.operands.on() && !task.operands.values_are_finite(task.call)) task.leave_formed_operands();
    const bool ok = formed && run_tasks(context, slabs) && merge_parts(context, slabs);
    return finish_call(context, *said().kernel, ok);
}

bool Plan::form_operands(gyre_context &context, char *slabs) {
    return context.threads.run_all(form_tasks(), [&](int64_t index, int worker) {
        return task.operands.form(task.call, task.angles, index, slabs + static_cast<size_t>(worker) * slab_bytes);
    });
}

/// Tasks with the same keys follow each other, so that these stay in the cache; those of sequences with the most work each, and
/// late rows, which see more keys when causal, come first, so that threads end together. Threads that must share keys take rows in turn.
bool Plan::run_tasks(gyre_context &context, char *slabs) {
    const Threads::Share share = tasks() < context.threads.places() * tiles ? Threads::in_turn : Threads::neighbours;
    const auto run_task = [&](int64_t index, int worker) {
        const auto take = [&](int64_t count) {
            const int64_t taken = index % count;
            index /= count;
            return taken;
        };
        const int64_t tile = tiles - 1 - take(tiles);
        const int64_t first_sharing = take(task.head_runs()) * task.heads;
        const int64_t kv_head = take(task.key_head_runs()) * task.key_heads;
        const int64_t part = take(split.parts());
        const int64_t sharing = task.sharing();
        const int64_t key_heads = std::min(task.key_heads, task.call.k.heads - kv_head);
        const int64_t heads = key_heads > 1 ? key_heads * sharing : std::min(task.heads, sharing - first_sharing);
        return task.run({order.at(index), kv_head * sharing + first_sharing, heads, tile * task.tokens, part},
                        slabs + static_cast<size_t>(worker) * slab_bytes);
    };
    return context.threads.run_all(tasks(), run_task, share);
}

bool Plan::merge_parts(gyre_context &context, char *slabs) {
    return context.threads.run_all(split.tasks(task), [&](int64_t index, int worker) {
        return split.run(task, index, slabs + static_cast<size_t>(worker) * slab_bytes);
    });
}

} // namespace gyre
