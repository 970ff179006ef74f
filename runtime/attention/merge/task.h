/// Merging of what attention gives for disjoint sets of keys: kernels, and tasks of some rows each.
#pragma once
#include "attention/call/head_terms.h"
#include "attention/call/results.h"
#include "core/context.h"

namespace gyre {

struct MergeKernel {
    const Kernel *kernel = nullptr;
    gyre_dtype part_dtype = GYRE_F32, dtype = GYRE_F32; // of what it reads and writes
    int64_t most_tokens = 0, most_heads = 0;            // of a task
    size_t workspace = 0;                               // bytes
    bool few_rows = false;                              // of a device: for few rows of many parts
};

/// The best kernel for tensors of these types on `device`; nullptr: none is linked.
const MergeKernel *find_merge_kernel(const gyre_context &context, gyre_dtype part_dtype, gyre_dtype dtype,
                                     gyre_device device = GYRE_CPU, bool few_rows = false);

struct MergeTask {
    const MergeKernel *kernel = nullptr;
    Results parts;                                    // part 0; the others follow, elements:
    int64_t out_part_stride = 0, lse_part_stride = 0; //   from part to part
    Results merged;

    /// Scratch memory that run() needs.
    size_t scratch_bytes() const;

    /// Merges the first `count` parts of some rows. False: the kernel failed.
    struct Rows {
        int64_t batch, first_token, tokens, first_head, heads;
    };
    /// `terms`: of the call, whose sinks join the sums; nullptr: there are none.
    bool run(const Rows &rows, int64_t count, char *scratch, const HeadTerms *terms = nullptr) const;
};

} // namespace gyre
