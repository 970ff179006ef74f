// gyre_attention(): checks, plans, and runs.
#include "arguments.h"
#include "attention/check.h"
#include "attention/plan.h"
#include "run_call.h"

#include <algorithm>
#include <cstddef>

using namespace gyre;

namespace {

/// Of the arguments before there were score functions.
constexpr size_t oldest_size = offsetof(gyre_attention_args, score);

gyre_status check(const gyre_attention_args *given, bool need_data, Plan *plan) {
    GYRE_TRY(adopt(given, "args", gyre_attention_defaults(), oldest_size, &plan->args));
    plan->need_data = need_data;
    return check_attention(plan->args, need_data, &plan->task.call);
}

} // namespace

extern "C" gyre_status gyre_attention(gyre_context *context, const gyre_attention_args *args) {
    Plan plan;
    GYRE_TRY(check(args, true, &plan));
    return run_call(context, plan.args, plan);
}

extern "C" gyre_status gyre_attention_workspace_size(gyre_context *context, const gyre_attention_args *args,
                                                     size_t *bytes) {
    GYRE_TRY(check_size_output(bytes));
    size_t most = 0;
    for (const bool may_split : {true, false}) {
        Plan plan;
        GYRE_TRY(check(args, false, &plan));
        // Whether keys of packed sequences are split depends on lists of lengths, which need not be filled yet.
        if (!may_split && !plan.args.cu_seqlens_q) continue;
        plan.may_split = may_split;
        size_t needed;
        GYRE_TRY(tell_workspace_size(context, plan, &needed));
        most = std::max(most, needed);
    }
    *bytes = most;
    return GYRE_OK;
}
