#include "attention/kernels.h"

#include "kernel_call.h"

#include <algorithm>
#include <tuple>

namespace gyre {
namespace {

AttentionKernel read(const Kernel &k) {
    return {&k,
            kernel_dtype(k),
            attribute(k, "general") == "true",
            attribute(k, "partial") == "true",
            attribute(k, "as_stored") == "true",
            attribute(k, "padded") == "true",
            attribute(k, "head_dim", 0),
            attribute(k, "row_tile", 0),
            attribute(k, "task_rows", 0),
            attribute(k, "key_block", 0),
            static_cast<size_t>(attribute(k, "workspace", 0)),
            attribute(k, "score"),
            parse_score_inputs(attribute(k, "score_inputs"))};
}

KernelTable<AttentionKernel> kernels("attention", read);

} // namespace

const AttentionKernel *find_attention_kernel(const gyre_context &context, const AttentionCall &c, bool partial) {
    const auto same_score = [&](std::string_view score) {
        return c.score ? !score.empty() && score == c.score : score.empty();
    };
    const AttentionKernel *best = nullptr;
    for (const AttentionKernel &k : kernels.rows()) {
        if (best && k.kernel->row != best->kernel->row) break; // a better target has one
        const bool fits =
            k.padded ? std::max(c.q.dim, c.v.dim) <= k.head_dim : c.q.dim == k.head_dim && c.v.dim == k.head_dim;
        if (k.dtype != c.q.dtype || k.partial != partial || (c.general() && !k.general) || !same_score(k.score) ||
            (k.as_stored && (c.rotate_keys || c.rotate_values)) || !fits || !may_use(context, *k.kernel))
            continue;
        const auto rank = [](const AttentionKernel &a) {
            return std::tuple(a.padded, a.general, a.head_dim, !a.as_stored);
        };
        if (!best || rank(k) < rank(*best)) best = &k;
    }
    return best;
}

std::vector<std::string_view> usable_scores(const gyre_context &context) {
    std::vector<std::string_view> names;
    for (const AttentionKernel &k : kernels.rows())
        if (!k.score.empty() && may_use(context, *k.kernel)) names.push_back(k.score);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

} // namespace gyre
