// gyre_attention(): checks, plans, and runs.
#include "cuda/attention.h"
#include "attention/check.h"
#include "attention/mask_ranges.h"
#include "attention/masked_plan.h"
#include "attention/plan.h"
#include "core/arguments.h"
#include "core/run_call.h"

#include <algorithm>
#include <cstddef>
#include <memory>

using namespace gyre;

namespace {

/// Of the arguments before there were score functions.
constexpr size_t oldest_size = offsetof(gyre_attention_args, score);

gyre_status take(const gyre_attention_args *given, gyre_attention_args *args) {
    return adopt(given, "args", gyre_attention_defaults(), oldest_size, args);
}

gyre_status check(const gyre_attention_args *given, bool need_data, Plan *plan) {
    GYRE_TRY(take(given, &plan->args));
    plan->need_data = need_data;
    return check_attention(plan->args, need_data, &plan->task.call);
}

} // namespace

extern "C" gyre_status gyre_attention(gyre_context *context, const gyre_attention_args *args) {
    return enter([&] {
        Plan plan;
        AttentionOnDevice on_device;
        GYRE_TRY(take(args, &plan.args));
        if (on_device.place(plan.args)) {
            GYRE_TRY(on_device.check(true));
            return run_call_on_device(context, on_device);
        }
        GYRE_TRY(check(args, true, &plan));
        if (!may_have_key_ranges(plan.task.call)) return run_call(context, plan.args, plan);
        const auto masked = std::make_unique<MaskedPlan>(plan); // two more plans, which stacks have no room for
        return run_call(context, plan.args, *masked);
    });
}

extern "C" gyre_status gyre_attention_workspace_size(gyre_context *context, const gyre_attention_args *args,
                                                     size_t *bytes) {
    return enter([&] {
        GYRE_TRY(check_size_output(bytes));
        gyre_attention_args taken;
        AttentionOnDevice on_device;
        GYRE_TRY(take(args, &taken));
        if (on_device.place(taken)) {
            GYRE_TRY(on_device.check(false));
            return tell_workspace_size(context, on_device, bytes);
        }
        size_t most = 0;
        for (const bool may_split : {true, false}) {
            Plan plan;
            GYRE_TRY(check(args, false, &plan));
            // Whether keys of packed sequences are split depends on lists of lengths, which need not be filled yet.
            if (!may_split && !plan.args.cu_seqlens_q) continue;
            plan.may_split = may_split;
            size_t needed;
            if (may_have_key_ranges(plan.task.call)) {
                const auto masked = std::make_unique<MaskedPlan>(plan);
                GYRE_TRY(tell_workspace_size(context, *masked, &needed));
            } else {
                GYRE_TRY(tell_workspace_size(context, plan, &needed));
            }
            most = std::max(most, needed);
        }
        *bytes = most;
        return GYRE_OK;
    });
}
