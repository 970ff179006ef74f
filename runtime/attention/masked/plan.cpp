#include "attention/masked/plan.h"

#include "attention/masks/ranges.h"
#include "core/kernel_call.h"

#include <algorithm>
#include <new>

namespace gyre {

MaskedPlan::MaskedPlan(const Plan &checked)
    : by_mask(checked), by_range(checked), may_have_ranges(may_have_key_ranges(checked.task.call)) {
    AttentionCall &c = by_range.plan.task.call;
    c.by_key_range = true;
    c.mask = {};
}

gyre_status MaskedPlan::prepare(gyre_context &context) {
    GYRE_TRY(by_mask.prepare(context));
    return may_have_ranges ? by_range.prepare(context) : GYRE_OK;
}

/// None where the caller's prepared mask has them.
size_t MaskedPlan::span_bytes() const {
    const AttentionCall &c = by_mask.plan.task.call;
    if (by_mask.plan.args.prepared_mask) return 0;
    return round_up(static_cast<size_t>(describe_spans(c).count()) * sizeof(RowSpan));
}

size_t MaskedPlan::range_bytes() const {
    return may_have_ranges ? round_up(static_cast<size_t>(by_mask.plan.task.call.sequences) * sizeof(KeyRange)) : 0;
}

size_t MaskedPlan::workspace_bytes(const gyre_context &context) const {
    const size_t of_ranges = may_have_ranges ? by_range.workspace_bytes(context) : 0;
    return saturated_bytes(span_bytes() + range_bytes(), std::max(by_mask.workspace_bytes(context), of_ranges));
}

void MaskedPlan::find_spans(gyre_context &context, char *memory) {
    const AttentionCall &c = by_mask.plan.task.call;
    if (c.spans.rows) return; // prepared
    MaskSpans spans = describe_spans(c);
    auto *const rows = reinterpret_cast<RowSpan *>(memory);
    form_spans(c, spans, rows, context.threads);
    spans.rows = rows;
    by_mask.each_call([&](AttentionCall &of_part) { of_part.spans = spans; });
}

/// How many sequences have ranges.
int64_t MaskedPlan::find_ranges(gyre_context &context, char *memory) {
    const AttentionCall &c = by_mask.plan.task.call;
    auto *const ranges = reinterpret_cast<KeyRange *>(memory);
    context.threads.run(c.sequences,
                        [&](int64_t index, int) { new (ranges + index) KeyRange(key_range_of_mask(c, index)); });
    for (PlanByRows *part : {&by_mask, &by_range})
        part->each_call([&](AttentionCall &of_part) { of_part.key_ranges = ranges; });
    return std::count_if(ranges, ranges + c.sequences, [](const KeyRange &r) { return r.exists; });
}

gyre_status MaskedPlan::run(gyre_context &context, char *memory) {
    char *const ranges = memory + span_bytes(), *const rest = ranges + range_bytes();
    find_spans(context, memory);
    const int64_t by_range_count = may_have_ranges ? find_ranges(context, ranges) : 0;
    const int64_t sequences = by_mask.plan.task.call.sequences;
    if (by_range_count < sequences || sequences == 0) GYRE_TRY(by_mask.run(context, rest));
    return by_range_count > 0 ? by_range.run(context, rest) : GYRE_OK;
}

} // namespace gyre
