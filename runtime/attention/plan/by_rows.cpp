#include "attention/plan/by_rows.h"

#include "attention/dispatch/dispatch.h"
#include "core/run_call.h"

#include <algorithm>

namespace gyre {

bool AttentionCall::has_rows(int64_t index) const {
    return are_whole_rows(*this, *of_rows.decoding, *of_rows.whole, sequence(index)) == of_rows.are_whole;
}

bool PlanByRows::has_whole_rows(const gyre_context &context) {
    const AttentionCall &c = plan.task.call;
    if (!is_x86 || !plan.need_data || !c.has_lengths()) return false;
    const SequenceKernels &kernels = plan.find_kernels(context);
    for (int64_t i = 0; kernels.whole_rows && i < c.sequences; i++)
        if (kernels.takes_whole_rows(c, c.sequence(i))) return true;
    return false;
}

void PlanByRows::divide() {
    whole = std::make_unique<Plan>(plan);
    const SequenceKernels &kernels = plan.task.kernels;
    plan.task.call.of_rows = {kernels.usual, kernels.whole_rows, false};
    whole->task.call.of_rows = {kernels.usual, kernels.whole_rows, true};
    whole->task.kernels = {kernels.whole_rows};
    const AttentionCall &c = plan.task.call;
    for (int64_t i = 0; i < c.sequences; i++) has_few = has_few || c.has(i);
}

gyre_status PlanByRows::prepare(gyre_context &context) {
    if (has_whole_rows(context)) divide();
    GYRE_TRY(plan.prepare(context));
    return whole ? whole->prepare(context) : GYRE_OK;
}

size_t PlanByRows::workspace_bytes(const gyre_context &context) const {
    const size_t bytes = plan.workspace_bytes(context);
    return whole ? std::max(bytes, whole->workspace_bytes(context)) : bytes;
}

/// That which rounds most, else that of the sequence with the most queries.
const AttentionKernel &PlanByRows::said() const {
    const auto most_queries = [](const Plan &of) {
        const AttentionCall &c = of.task.call;
        int64_t most = 0;
        for (int64_t i = 0; i < c.sequences; i++)
            if (c.has(i)) most = std::max(most, c.sequence(i).q_len);
        return most;
    };
    const bool whole_has_most = most_queries(*whole) >= most_queries(plan);
    const Plan &first = whole_has_most ? *whole : plan, &second = whole_has_most ? plan : *whole;
    return !first.said().has_bf16_dots() && second.said().has_bf16_dots() ? second.said() : first.said();
}

gyre_status PlanByRows::run(gyre_context &context, char *memory) {
    if (!whole) return plan.run(context, memory);
    if (has_few) GYRE_TRY(plan.run(context, memory));
    GYRE_TRY(whole->run(context, memory));
    return finish_call(context, *said().kernel, true);
}

} // namespace gyre
