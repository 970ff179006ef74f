#include "attention/mixed_plan.h"

#include "attention/dispatch.h"
#include "core/run_call.h"

#include <algorithm>

namespace gyre {

bool AttentionCall::has_rows(int64_t index) const {
    return are_whole_rows(*this, *of_rows.decoding, *of_rows.whole, sequence(index)) == of_rows.are_whole;
}

std::unique_ptr<PartedCall> MixedPlan::of(const gyre_context &context, Plan *checked) {
    const AttentionCall &c = checked->task.call;
    if (!is_x86 || !checked->need_data || !c.has_lengths()) return nullptr;
    const SequenceKernels &kernels = checked->find_kernels(context);
    for (int64_t i = 0; kernels.whole_rows && i < c.sequences; i++)
        if (kernels.takes_whole_rows(c, c.sequence(i))) return std::unique_ptr<PartedCall>(new MixedPlan(*checked));
    return nullptr;
}

MixedPlan::MixedPlan(const Plan &checked) : few(checked), whole(checked) {
    const SequenceKernels &kernels = checked.task.kernels;
    few.task.call.of_rows = {kernels.usual, kernels.whole_rows, false};
    whole.task.call.of_rows = {kernels.usual, kernels.whole_rows, true};
    whole.task.kernels = {kernels.whole_rows};
    const AttentionCall &c = few.task.call;
    for (int64_t i = 0; i < c.sequences; i++) has_few = has_few || c.has(i);
}

gyre_status MixedPlan::prepare(gyre_context &context) {
    GYRE_TRY(few.prepare(context));
    return whole.prepare(context);
}

size_t MixedPlan::workspace_bytes(const gyre_context &context) const {
    return std::max(few.workspace_bytes(context), whole.workspace_bytes(context));
}

/// That which rounds most, else that of the sequence with the most queries.
const AttentionKernel &MixedPlan::said() const {
    const AttentionCall &c = whole.task.call;
    const auto most_queries = [&](const Plan &plan) {
        int64_t most = 0;
        for (int64_t i = 0; i < c.sequences; i++)
            if (plan.task.call.has(i)) most = std::max(most, c.sequence(i).q_len);
        return most;
    };
    const bool whole_has_most = most_queries(whole) >= most_queries(few);
    const Plan &first = whole_has_most ? whole : few, &second = whole_has_most ? few : whole;
    return !first.said().has_bf16_dots() && second.said().has_bf16_dots() ? second.said() : first.said();
}

gyre_status MixedPlan::run(gyre_context &context, char *memory) {
    if (has_few) GYRE_TRY(few.run(context, memory));
    GYRE_TRY(whole.run(context, memory));
    return finish_call(context, *said().kernel, true);
}

} // namespace gyre
