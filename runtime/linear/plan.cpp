#include "linear/plan.h"

#include "core/error.h"

#include <algorithm>
#include <cstdlib>

namespace gyre {
namespace {

/// Key heads of a task. Where the heads of a token are neighbours in memory, taking several along reads whole pages; but
/// their states are to stay in L2, and every thread is to have something to do. The result's bits do not depend on it.
int64_t choose_heads(const LinearTask &task, int threads) {
    constexpr int64_t most_bytes = 512 << 10;
    const AttentionCall &c = task.call.heads;
    if (c.k.heads < 2 || std::abs(c.k.token_stride) < std::abs(c.k.head_stride)) return 1;
    const LinearSizes z = task.sizes(false);
    const int64_t fitting = most_bytes / (z.features * z.stride * static_cast<int64_t>(sizeof(float)));
    const int64_t tasks = std::min(ceil_div(threads, std::max<int64_t>(c.sequences, 1)), c.k.heads);
    return std::clamp<int64_t>(std::min(fitting, c.k.heads / tasks), 1, c.k.heads);
}

} // namespace

gyre_status LinearPlan::prepare(gyre_context &context, LinearTask *given, bool backward) {
    task = given;
    const AttentionCall &c = task->call.heads;
    GYRE_TRY(find_linear_kernels(context, c, backward, &task->kernels));
    GYRE_TRY(task->angles.prepare(context, c));
    task->heads = backward ? 1 : choose_heads(*task, context.threads.size());
    table_bytes = task->angles.bytes();
    slab_bytes = std::max(LinearMemory(task->sizes(backward), nullptr).bytes, round_up(task->angles.scratch_bytes()));
    return GYRE_OK;
}

size_t LinearPlan::workspace_bytes(const gyre_context &context) const {
    return saturated_bytes(table_bytes,
                           bytes_of_slabs(slab_bytes, context.threads.size(), std::max(tasks(), fill_tasks())));
}

bool LinearPlan::fill_tables(gyre_context &context, char *memory, char *slabs) {
    return fill_tasks() == 0 || task->angles.fill(context, memory, slabs, slab_bytes);
}

} // namespace gyre
