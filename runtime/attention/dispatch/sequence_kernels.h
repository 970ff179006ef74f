/// Which kernel serves which sequence of a call.
#pragma once
#include "attention/dispatch/kernels.h"

#include <array>

namespace gyre {

/// A kernel that serves all sequences of a call, and those that serve some of them in less time: by their rows a key head, and by the keys that
/// these see. Other sequences, and threads, have no part in the choice.
struct SequenceKernels {
    const AttentionKernel *usual = nullptr;      // nullptr: no kernel takes the call
    const AttentionKernel *few_rows = nullptr;   // instead, with vectors of keys instead of rows
    const AttentionKernel *narrow = nullptr;     // instead, where its row tile, of fewer rows, holds all rows
    const AttentionKernel *in_place = nullptr;   // instead, of any head size: keys are read where they are
    const AttentionKernel *many_rows = nullptr;  // instead, with vectors that so many rows fill
    const AttentionKernel *whole_rows = nullptr; // instead, without parts of keys, by a plan of their own (PlanByRows)
    const AttentionKernel *few_keys = nullptr;   // instead, with factors that are no sums of shorter numbers
    const AttentionKernel *uncopied = nullptr;   // instead, where rows are too few to gain by copies of keys and values
    const AttentionKernel *general_in_place =
        nullptr; // instead, of large row tiles and any options: keys and values are read where they are

    /// The kernel that serves a sequence of the call.
    const AttentionKernel &of(const AttentionCall &call, const Sequence &s) const {
        return are_one() ? *usual : choose(call, s);
    }
    /// Whether that is `whole_rows`.
    bool takes_whole_rows(const AttentionCall &call, const Sequence &s) const;

    /// Leaves those alone that some sequence of a plan may take: where all have as many queries, or keys, these decide at once.
    void settle(const AttentionCall &call);
    bool are_one() const {
        return !(few_rows || narrow || in_place || many_rows || whole_rows || few_keys || uncopied || general_in_place);
    }
    /// All but `whole_rows`; nullptr: there is none.
    std::array<const AttentionKernel *, 8> all() const {
        return {usual, few_rows, narrow, in_place, many_rows, few_keys, uncopied, general_in_place};
    }

private:
    const AttentionKernel &choose(const AttentionCall &call, const Sequence &s) const;
};

/// The kernels of a call. `few_queries`: each sequence has few.
SequenceKernels find_sequence_kernels(const gyre_context &context, const AttentionCall &call, bool few_queries);

} // namespace gyre
