#include "attention/masked_plan.h"

#include "attention/mask_ranges.h"
#include "core/kernel_call.h"

#include <algorithm>
#include <new>

namespace gyre {

MaskedPlan::MaskedPlan(const Plan &checked) : by_mask(checked), by_range(checked) {
    AttentionCall &c = by_range.task.call;
    c.by_key_range = true;
    c.mask = {};
}

gyre_status MaskedPlan::prepare(gyre_context &context) {
    GYRE_TRY(by_mask.prepare(context));
    return by_range.prepare(context);
}

size_t MaskedPlan::range_bytes() const {
    return round_up(static_cast<size_t>(by_mask.task.call.sequences) * sizeof(KeyRange));
}

size_t MaskedPlan::workspace_bytes(const gyre_context &context) const {
    return saturated_bytes(range_bytes(),
                           std::max(by_mask.workspace_bytes(context), by_range.workspace_bytes(context)));
}

gyre_status MaskedPlan::run(gyre_context &context, char *memory) {
    const AttentionCall &c = by_mask.task.call;
    auto *const ranges = reinterpret_cast<KeyRange *>(memory);
    context.threads.run_all(c.sequences, [&](int64_t index, int) {
        new (ranges + index) KeyRange(key_range_of_mask(c, index));
        return true;
    });
    for (Plan *plan : {&by_mask, &by_range}) plan->task.call.key_ranges = ranges;
    const auto by_range_count = std::count_if(ranges, ranges + c.sequences, [](const KeyRange &r) { return r.exists; });
    char *const rest = memory + range_bytes();
    if (by_range_count < c.sequences || c.sequences == 0) GYRE_TRY(by_mask.run(context, rest));
    return by_range_count > 0 ? by_range.run(context, rest) : GYRE_OK;
}

} // namespace gyre
