/// A call with a mask: sequences whose masks come to ranges of keys, and the others, each with kernels of their own.
///
/// Which kernel serves a sequence depends on its mask alone, so that results do not depend on how batches are cut.
#pragma once
#include "attention/plan.h"

namespace gyre {

struct MaskedPlan {
    Plan by_mask, by_range;

    /// `checked`: a call for which may_have_key_ranges().
    explicit MaskedPlan(const Plan &checked);

    gyre_status prepare(gyre_context &context);
    size_t workspace_bytes(const gyre_context &context) const;
    gyre_status run(gyre_context &context, char *memory);

private:
    size_t range_bytes() const;
};

} // namespace gyre
