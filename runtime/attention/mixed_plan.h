/// A call of few queries with lists of lengths, some of whose sequences have many rows a key head and few keys: kernels for many queries take
/// these, as they do if such a sequence is alone, and kernels that write parts of keys take the others.
#pragma once
#include "attention/parted_call.h"
#include "attention/plan.h"

#include <memory>

namespace gyre {

class MixedPlan : public PartedCall {
public:
    /// nullptr: one plan does for all sequences. Reads lists, and finds the plan's kernels.
    static std::unique_ptr<PartedCall> of(const gyre_context &context, Plan *checked);

    gyre_status prepare(gyre_context &context) override;
    size_t workspace_bytes(const gyre_context &context) const override;
    gyre_status run(gyre_context &context, char *memory) override;

private:
    Plan few, whole;
    bool has_few = false; // a sequence of `few`

    explicit MixedPlan(const Plan &checked);
    const AttentionKernel &said() const;
};

} // namespace gyre
