#include "attention/kernels.h"

#include "kernel_call.h"

#include <algorithm>

namespace gyre {
namespace {

AttentionKernel read(const Kernel &k) {
    return {&k,
            kernel_dtype(k),
            attribute(k, "general") == "true",
            attribute(k, "padded") == "true",
            attribute(k, "head_dim", 0),
            attribute(k, "row_tile", 0),
            attribute(k, "task_rows", 0),
            attribute(k, "key_block", 0),
            static_cast<size_t>(attribute(k, "workspace", 0))};
}

} // namespace

const AttentionKernel *find_attention_kernel(const gyre_context &context, gyre_dtype dtype, int64_t head_dim,
                                             int64_t v_head_dim, bool general) {
    static KernelTable<AttentionKernel> kernels("attention", read);
    const AttentionKernel *best = nullptr;
    for (const AttentionKernel &k : kernels.rows()) {
        if (best && k.kernel->row != best->kernel->row) break; // a better target has one
        const bool fits = k.padded ? std::max(head_dim, v_head_dim) <= k.head_dim
                                   : head_dim == k.head_dim && v_head_dim == k.head_dim;
        if (k.dtype != dtype || k.general != general || !fits || !may_use(context, *k.kernel)) continue;
        if (!best || best->padded > k.padded || (best->padded == k.padded && k.head_dim < best->head_dim)) best = &k;
    }
    return best;
}

} // namespace gyre
