// gyre_attention(): checks, plans, and runs.
#include "attention/call/tensors.h"
#include "attention/check/check.h"
#include "attention/masks/part.h"
#include "attention/masks/spans.h"
#include "attention/plan/batch_as_heads.h"
#include "attention/plan/by_rows.h"
#include "core/arguments.h"
#include "core/run_call.h"

#include <algorithm>
#include <cstddef>
#include <memory>

using namespace gyre;

namespace {

/// The size of the arguments before there were score functions.
constexpr size_t oldest_size = offsetof(gyre_attention_args, score);

class AttentionOnCpu {
    PlanByRows by_rows;
    Plan &plan = by_rows.plan;

public:
    using Arguments = gyre_attention_args;
    static constexpr bool on_devices = true;
    Arguments &args = plan.args;

    AttentionOnCpu() = default;
    AttentionOnCpu(const AttentionOnCpu &) = delete; // it points into itself
    AttentionOnCpu &operator=(const AttentionOnCpu &) = delete;

    static gyre_status take(const Arguments *given, Arguments *args) {
        return adopt(given, "args", gyre_attention_defaults(), oldest_size, args);
    }

    gyre_status check(bool need_data) {
        plan.need_data = need_data;
        GYRE_TRY(check_attention(plan.args, need_data, &plan.task.call));
        take_batch_as_heads(&plan.task.call);
        plan_masks();
        // Whether keys are split depends on lists of lengths, which need not be filled yet.
        if (!need_data && (args.cu_seqlens_q || (is_x86 && args.seqused_k)))
            unsplit = std::unique_ptr<AttentionOnCpu>(new AttentionOnCpu(plan));
        return GYRE_OK;
    }

    gyre_status prepare(gyre_context &context) {
        GYRE_TRY(masked ? masked->prepare(context) : by_rows.prepare(context));
        return unsplit ? unsplit->prepare(context) : GYRE_OK;
    }

    size_t workspace_bytes(const gyre_context &context) const {
        const size_t bytes = masked ? masked->workspace_bytes(context) : by_rows.workspace_bytes(context);
        return unsplit ? std::max(bytes, unsplit->workspace_bytes(context)) : bytes;
    }

    void visit_tensors(WorkspaceApart &visit) {
        each_tensor(args, visit);
        for (int32_t i = 0; i < args.score_input_count; i++) visit(args.score_inputs[i].tensor, "score_inputs");
        if (args.prepared_mask)
            visit(gyre_attention_masks.prepared_view(args.prepared_mask, plan.task.call), "prepared_mask");
    }

    gyre_status run(gyre_context &context, char *memory) {
        return masked ? masked->run(context, memory) : by_rows.run(context, memory);
    }

private:
    std::unique_ptr<PartedCall> masked;      // instead of `by_rows`
    std::unique_ptr<AttentionOnCpu> unsplit; // beside this one, where only the size is asked for

    explicit AttentionOnCpu(const Plan &checked) : by_rows(checked) {
        plan.may_split = false;
        plan_masks();
    }

    void plan_masks() {
        if (has_masks_part() && has_spans(plan.task.call)) masked = gyre_attention_masks.plan(plan);
    }
};

} // namespace

extern "C" gyre_status gyre_attention(gyre_context *context, const gyre_attention_args *args) {
    return run_operation<AttentionOnCpu>(context, args);
}

extern "C" gyre_status gyre_attention_workspace_size(gyre_context *context, const gyre_attention_args *args,
                                                     size_t *bytes) {
    return tell_operation_size<AttentionOnCpu>(context, args, bytes);
}
