// gyre_attention(): checks, forms the angles, cuts (sequence, head, rows) into tasks, and runs a kernel on each.
#include "arguments.h"
#include "attention/angle_table.h"
#include "attention/kernels.h"
#include "attention/task.h"
#include "kernel_call.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>

namespace gyre {
namespace {

/// Of the arguments before there were score functions.
constexpr size_t oldest_size = offsetof(gyre_attention_args, score);

/// Rows of a task: as many as the kernel takes, since they share packed keys and values, but enough tasks for all
/// threads, and all of about the same size, since a short last one would pack as much for less.
int64_t choose_task_rows(const AttentionKernel &kernel, const AttentionCall &c, int threads) {
    const int64_t heads = std::max<int64_t>(c.sequences * c.q.heads, 1), most = std::max<int64_t>(c.q.seqlen, 1);
    const auto ceil_div = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
    const int64_t wanted = threads > 1 ? ceil_div(int64_t{4} * threads, heads) : 1;
    const int64_t tiles = ceil_div(most, kernel.row_tile);
    const int64_t tasks = std::min(std::max(wanted, ceil_div(most, kernel.task_rows)), tiles);
    return ceil_div(tiles, tasks) * kernel.row_tile;
}

/// A call with its kernel, its tables and its cut into tasks.
struct Plan {
    gyre_attention_args args;
    AttentionTask task;
    size_t slab_bytes = 0, table_bytes = 0;
    int64_t tiles = 0; // of the longest sequence

    int64_t tasks() const { return task.call.empty() ? 0 : task.call.sequences * task.call.q.heads * tiles; }
    size_t workspace_bytes(const gyre_context &context) const {
        const int64_t busiest = std::max(tasks(), fill_tasks());
        return table_bytes + slab_bytes * static_cast<size_t>(std::min<int64_t>(context.threads.size(), busiest));
    }
    int64_t fill_tasks() const {
        int64_t sum = 0;
        for (const AngleTable *t : task.tables()) sum += t->on() ? t->tasks() : 0;
        return task.call.empty() ? 0 : sum;
    }
};

/// Which of the things that a kernel is made for is the one that none has.
gyre_status fail_without_kernel(const gyre_context &context, const AttentionCall &c) {
    const auto scores = usable_scores(context);
    if (c.score && std::find(scores.begin(), scores.end(), c.score) == scores.end()) {
        std::string names;
        for (const std::string_view name : scores) names.append(names.empty() ? "" : ", ").append(name);
        return fail(GYRE_UNSUPPORTED, "score: no linked kernel has \"%.64s\"; linked: %s", c.score,
                    names.empty() ? "none" : names.c_str());
    }
    const std::string with = c.score       ? " with score " + std::string(c.score)
                             : c.general() ? " with a bias, mask, softcap, ALiBi or sinks"
                                           : "";
    return fail(GYRE_UNSUPPORTED, "q: no linked kernel of %s takes %s with head sizes %lld and %lld%s",
                context.best->name, dtype_name(c.q.dtype), static_cast<long long>(c.q.dim),
                static_cast<long long>(c.v.dim), with.c_str());
}

gyre_status prepare(gyre_context &context, bool need_data, Plan *plan) {
    AttentionTask &t = plan->task;
    AttentionCall &c = t.call;
    t.kernel = find_attention_kernel(context, c);
    if (!t.kernel) return fail_without_kernel(context, c);
    if (c.score) GYRE_TRY(check_score_inputs(plan->args, c, t.kernel->score_inputs, need_data, &t.score_views));
    auto &frequencies = context.frequencies;
    if (c.rope.on) GYRE_TRY(t.q_angles.prepare(context, c, c.rope, AngleTable::queries, frequencies[0]));
    if (c.rotate_keys) GYRE_TRY(t.k_angles.prepare(context, c, c.rope, AngleTable::keys, frequencies[0]));
    const bool reuse_queries = c.same_angles, reuse_keys = c.same_angles && c.rotate_keys;
    if (c.rotate_values && !reuse_keys)
        GYRE_TRY(t.v_angles.prepare(context, c, c.value_rope, AngleTable::keys, frequencies[1]));
    if (c.value_rope.on && !reuse_queries)
        GYRE_TRY(t.out_angles.prepare(context, c, c.value_rope, AngleTable::queries, frequencies[1]));

    t.rows = choose_task_rows(*t.kernel, c, context.threads.size());
    plan->tiles = (c.q.seqlen + t.rows - 1) / t.rows;
    size_t scratch = t.scratch_bytes();
    for (const AngleTable *table : t.tables()) {
        if (!table->on()) continue;
        plan->table_bytes += table->bytes();
        scratch = std::max(scratch, table->scratch_bytes());
    }
    plan->slab_bytes = round_up(scratch);
    return GYRE_OK;
}

/// Fills every table, a run of rows a task.
bool fill_tables(gyre_context &context, Plan &plan, char *memory, char *slabs) {
    for (AngleTable *table : plan.task.tables()) {
        if (!table->on()) continue;
        table->place(memory);
        memory += table->bytes();
    }
    std::atomic<bool> ok{true};
    context.threads.run(plan.fill_tasks(), [&](int64_t index, int worker) {
        for (const AngleTable *table : plan.task.tables()) {
            if (!table->on()) continue;
            if (index < table->tasks()) {
                if (!table->fill(index, slabs + static_cast<size_t>(worker) * plan.slab_bytes)) ok = false;
                return;
            }
            index -= table->tasks();
        }
    });
    return ok;
}

/// Tasks of one head follow each other, so that its keys stay in the cache; late rows, which see more keys when causal,
/// come first.
bool run_tasks(gyre_context &context, const Plan &plan, char *slabs) {
    std::atomic<bool> ok{true};
    const int64_t heads = plan.task.call.q.heads;
    context.threads.run(plan.tasks(), [&](int64_t index, int worker) {
        const int64_t tile = plan.tiles - 1 - index % plan.tiles, head = index / plan.tiles % heads,
                      sequence = index / plan.tiles / heads;
        if (!plan.task.run(sequence, head, tile * plan.task.rows,
                           slabs + static_cast<size_t>(worker) * plan.slab_bytes))
            ok = false;
    });
    return ok;
}

} // namespace
} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_attention(gyre_context *given, const gyre_attention_args *given_args) {
    Plan plan;
    GYRE_TRY(adopt(given_args, "args", gyre_attention_defaults(), oldest_size, &plan.args));
    GYRE_TRY(check_attention(plan.args, true, &plan.task.call));
    gyre_context *context;
    GYRE_TRY(resolve_context(given, &context));
    const std::lock_guard<std::mutex> lock(context->busy);
    GYRE_TRY(prepare(*context, true, &plan));
    char *memory;
    GYRE_TRY(acquire_workspace(plan.args.workspace, plan.args.workspace_size, plan.workspace_bytes(*context),
                               context->arena, &memory));
    char *slabs = memory + plan.table_bytes;
    if (!fill_tables(*context, plan, memory, slabs) || !run_tasks(*context, plan, slabs))
        return fail(GYRE_INTERNAL, "%s: the kernel failed", plan.task.kernel->kernel->name);
    context->selected = plan.task.kernel->kernel;
    return GYRE_OK;
}

extern "C" gyre_status gyre_attention_workspace_size(gyre_context *given, const gyre_attention_args *given_args,
                                                     size_t *bytes) {
    if (!bytes) return fail(GYRE_BAD_ARGUMENT, "bytes: got NULL, expected where to store the size");
    Plan plan;
    GYRE_TRY(adopt(given_args, "args", gyre_attention_defaults(), oldest_size, &plan.args));
    GYRE_TRY(check_attention(plan.args, false, &plan.task.call));
    gyre_context *context;
    GYRE_TRY(resolve_context(given, &context));
    const std::lock_guard<std::mutex> lock(context->busy);
    GYRE_TRY(prepare(*context, false, &plan));
    *bytes = plan.workspace_bytes(*context) + workspace_slack;
    return GYRE_OK;
}
