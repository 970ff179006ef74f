/// A call with a mask: sequences whose masks come to ranges of keys, and the others, each with kernels of their own.
///
/// Which kernel serves a sequence depends on its mask alone, so that results do not depend on how batches are cut.
#pragma once
#include "attention/masks/part.h"
#include "attention/plan/by_rows.h"

namespace gyre {

class MaskedPlan : public PartedCall {
public:
    /// `checked`: a call for which has_spans().
    explicit MaskedPlan(const Plan &checked);

    gyre_status prepare(gyre_context &context) override;
    size_t workspace_bytes(const gyre_context &context) const override;
    gyre_status run(gyre_context &context, char *memory) override;

private:
    PlanByRows by_mask, by_range;
    const bool may_have_ranges; // else by_range has no part in it

    size_t span_bytes() const;
    size_t range_bytes() const;
    void find_spans(gyre_context &context, char *memory);
    int64_t find_ranges(gyre_context &context, char *memory);
};

} // namespace gyre
