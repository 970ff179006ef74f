// gyre_attention(): checks, plans, and runs.
#include "arguments.h"
#include "attention/check.h"
#include "attention/plan.h"

#include <algorithm>
#include <cstddef>

using namespace gyre;

namespace {

/// Of the arguments before there were score functions.
constexpr size_t oldest_size = offsetof(gyre_attention_args, score);

gyre_status check(const gyre_attention_args *given, bool need_data, Plan *plan) {
    GYRE_TRY(adopt(given, "args", gyre_attention_defaults(), oldest_size, &plan->args));
    return check_attention(plan->args, need_data, &plan->task.call);
}

} // namespace

extern "C" gyre_status gyre_attention(gyre_context *given, const gyre_attention_args *args) {
    Plan plan;
    GYRE_TRY(check(args, true, &plan));
    gyre_context *context;
    GYRE_TRY(resolve_context(given, &context));
    const std::lock_guard<std::mutex> lock(context->busy);
    GYRE_TRY(plan.prepare(*context, true, true));
    char *memory;
    GYRE_TRY(acquire_workspace(plan.args.workspace, plan.args.workspace_size, plan.workspace_bytes(*context),
                               context->arena, &memory));
    const Kernel &kernel = *plan.task.kernel->kernel;
    if (!plan.run(*context, memory)) return fail(GYRE_INTERNAL, "%s: the kernel failed", kernel.name);
    context->selected = &kernel;
    return GYRE_OK;
}

extern "C" gyre_status gyre_attention_workspace_size(gyre_context *given, const gyre_attention_args *args,
                                                     size_t *bytes) {
    if (!bytes) return fail(GYRE_BAD_ARGUMENT, "bytes: got NULL, expected where to store the size");
    size_t most = 0;
    for (const bool may_split : {true, false}) {
        Plan plan;
        GYRE_TRY(check(args, false, &plan));
        // Whether keys of packed sequences are split depends on lists of lengths, which need not be filled yet.
        if (!may_split && !plan.args.cu_seqlens_q) continue;
        gyre_context *context;
        GYRE_TRY(resolve_context(given, &context));
        const std::lock_guard<std::mutex> lock(context->busy);
        GYRE_TRY(plan.prepare(*context, false, may_split));
        most = std::max(most, plan.workspace_bytes(*context));
    }
    *bytes = most + workspace_slack;
    return GYRE_OK;
}
