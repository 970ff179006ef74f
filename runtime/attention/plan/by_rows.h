/// The plan of a call, or two: of few queries with lists of lengths, where some sequences have many rows a key head and few keys. Kernels for
/// many queries take these, as they do if such a sequence is alone, and kernels that write parts of keys take the others.
#pragma once
#include "attention/plan/plan.h"

#include <memory>

namespace gyre {

class PlanByRows {
public:
    Plan plan; // of all sequences, or of those that have few rows

    PlanByRows() = default;
    explicit PlanByRows(const Plan &checked) : plan(checked) {}

    /// Reads lists, and finds kernels. Errors: Plan's.
    gyre_status prepare(gyre_context &context);
    size_t workspace_bytes(const gyre_context &context) const;
    gyre_status run(gyre_context &context, char *memory);

    template <typename Change>
    void each_call(const Change &change) {
        change(plan.task.call);
        if (whole) change(whole->task.call);
    }

private:
    std::unique_ptr<Plan> whole; // of the others; stacks have no room for it
    bool has_few = false;        // a sequence of `plan`

    bool has_whole_rows(const gyre_context &context);
    void divide();
    const AttentionKernel &said() const;
};

} // namespace gyre
