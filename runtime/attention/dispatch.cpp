#include "attention/dispatch.h"

#include "attention/merge_task.h"

#include <algorithm>
#include <tuple>

namespace gyre {
namespace {

// bench/README.md has the measurements: cutting keys into parts, and reading them where they are.
constexpr DispatchRule rules[] = {
    {"split_value_blocks", "values in blocks; at most 16 queries a sequence", trait::partial | trait::value_blocks},
    {"plain_value_blocks", "values in blocks", trait::value_blocks},
    {"split_as_stored",
     "at most 16 queries a sequence; keys and values not rotated in the call; no bias, mask, cap, ALiBi, sinks or "
     "score",
     trait::partial | trait::as_stored},
    {"split", "at most 16 queries a sequence; no bias, mask, cap, ALiBi, sinks or score", trait::partial},
    {"paged",
     "on CUDA devices; keys and values in pages, not rotated in the call, rows aligned to 16 bytes; no bias, mask, "
     "cap, ALiBi, sinks or score",
     trait::as_stored | trait::paged},
    {"plain_as_stored",
     "on CUDA devices; keys and values not rotated in the call, rows aligned to 16 bytes; no bias, mask, cap, ALiBi, "
     "sinks or score",
     trait::as_stored},
    {"plain_formed",
     "many queries a key head, not too many keys; no bias, mask, cap, ALiBi, sinks or score: keys and values are "
     "formed once for all tasks",
     trait::formed},
    {"plain", "no bias, mask, cap, ALiBi, sinks or score", 0},
    {"general_as_stored",
     "on CUDA devices; keys and values, in pages or not, not rotated in the call, rows aligned to 16 bytes; no score",
     trait::general | trait::as_stored},
    {"dropout", "with dropout; any without a score", trait::general | trait::dropout},
    {"general", "any without a score or dropout", trait::general},
    {"score", "with a score, by its name", trait::general | trait::scored},
};

const AttentionKernel *find_in_family(const DispatchRule &rule, const gyre_context &context, const AttentionCall &c) {
    const AttentionKernel *best = nullptr;
    for (const AttentionKernel &k : attention_kernels(context, static_cast<size_t>(&rule - rules))) {
        if (best && k.kernel->row != best->kernel->row) break; // a better target has one
        if (k.kernel->row && k.kernel->row->device != GYRE_CPU) continue;
        const bool fits =
            k.padded ? std::max(c.q.dim, c.v.dim) <= k.head_dim : c.q.dim == k.head_dim && c.v.dim == k.head_dim;
        if (k.dtype != c.q.dtype || (c.score && k.score != c.score) || !fits || !may_use(context, *k.kernel)) continue;
        const auto rank = [](const AttentionKernel &a) { return std::tuple(a.padded, a.head_dim); };
        if (!best || rank(k) < rank(*best)) best = &k;
    }
    return best;
}

} // namespace

RowList<DispatchRule> dispatch_rules() { return {rules, sizeof rules / sizeof rules[0]}; }

const AttentionKernel *find_attention_kernel(const gyre_context &context, const AttentionCall &c, bool few_queries) {
    for (const DispatchRule &rule : rules) {
        if (!rule.takes(c, few_queries)) continue;
        if (rule.is(trait::partial) && !find_merge_kernel(context, GYRE_F32, c.out.dtype)) continue;
        if (rule.is(trait::formed) && !(find_operands_kernel(context, c) && find_unformed_kernel(context, c))) continue;
        if (const AttentionKernel *kernel = find_in_family(rule, context, c)) return kernel;
    }
    return nullptr;
}

const AttentionKernel *find_unformed_kernel(const gyre_context &context, const AttentionCall &c) {
    for (const DispatchRule &rule : rules) {
        if (rule.is(trait::formed) || !rule.takes(c, false)) continue;
        if (const AttentionKernel *kernel = find_in_family(rule, context, c)) return kernel;
    }
    return nullptr;
}

} // namespace gyre
