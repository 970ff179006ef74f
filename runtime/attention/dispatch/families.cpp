#include "attention/dispatch/families.h"

#include "attention/merge/task.h"
#include "cpu/cpu_features.h"

#include <algorithm>
#include <tuple>

namespace gyre {
namespace {

// In the order of generators/families.json. bench/notes has the measurements: cutting keys into parts, and reading them where
// they are.
constexpr DispatchRule rules[] = {
#define GYRE_FAMILY(begin, calls, traits) {begin, traits},
#define GYRE_TRAIT(name)
#include "gyre_families.inc"
#undef GYRE_TRAIT
#undef GYRE_FAMILY
};

static_assert(sizeof rules / sizeof rules[0] <= sizeof gyre_context::found / sizeof gyre_context::found[0],
              "contexts keep what was found in each family");

} // namespace

RowList<DispatchRule> dispatch_rules() { return {rules, sizeof rules / sizeof rules[0]}; }

bool is_padded_in_place(const AttentionKernel &k) {
    return k.padded && k.is(trait::partial) && k.is(trait::as_stored) && !k.is(trait::general);
}

bool is_left_out(const gyre_context &context, const AttentionKernel &k, const AttentionCall &c, bool without_terms) {
    if (k.kernel->row == context.forced) return false;
    if (k.has_terms()) return without_terms || (k.padded && k.dtype == GYRE_F32); // what pads is multiplied, too
    const bool beside_tiles = k.is(trait::partial) && has_matrix_tiles(*context.best);
    if (beside_tiles && k.dtype == GYRE_BF16 && is_padded_in_place(k)) return true; // nor was how long these take
    return k.has_bf16_dots() && (has_slow_bf16_dots() || beside_tiles) && !c.mask.data;
}

const AttentionKernel *find_in_family(const DispatchRule &rule, const gyre_context &context, const AttentionCall &c,
                                      bool without_terms) {
    gyre_context::Found &found = context.found[&rule - rules];
    const bool is_kept = !c.score && !c.mask.data;
    if (is_kept && found.is_known && found.dtype == c.q.dtype && found.sizes[0] == c.q.dim &&
        found.sizes[1] == c.v.dim && found.without_terms == without_terms) {
        const auto *kernel = static_cast<const AttentionKernel *>(found.row);
        if (!kernel || may_use(context, *kernel->kernel)) return kernel;
    }
    const AttentionKernel *best = nullptr, *left_out = nullptr;
    for (const AttentionKernel &k : attention_kernels(context, static_cast<size_t>(&rule - rules))) {
        if (k.dtype != c.q.dtype) continue;                    // what tells most of them apart comes first
        if (best && k.kernel->row != best->kernel->row) break; // a better target has one
        const bool fits =
            k.padded ? std::max(c.q.dim, c.v.dim) <= k.head_dim && std::min(c.q.dim, c.v.dim) >= k.least_head_dim
                     : c.q.dim == k.head_dim && c.v.dim == k.head_dim;
        if (!fits || (c.score && k.score != c.score) || !may_use(context, *k.kernel)) continue;
        if (is_left_out(context, k, c, without_terms)) {
            if (!left_out) left_out = &k;
            continue;
        }
        const auto rank = [](const AttentionKernel &a) { return std::tuple(a.padded, a.head_dim); };
        if (!best || rank(k) < rank(*best)) best = &k;
    }
    if (!best) best = left_out;
    if (is_kept) found = {c.q.dtype, {c.q.dim, c.v.dim}, without_terms, best, true};
    return best;
}

const AttentionKernel *find_kernel_with(unsigned traits, const gyre_context &context, const AttentionCall &c) {
    for (const DispatchRule &rule : rules)
        if (rule.traits == traits) return find_in_family(rule, context, c);
    return nullptr;
}

const AttentionKernel *find_by_rules(const gyre_context &context, const AttentionCall &c, bool few_queries) {
    const AttentionKernel *left_out = nullptr;
    for (const DispatchRule &rule : rules) {
        if (!rule.takes(c, few_queries)) continue;
        if (rule.is(trait::partial) && !find_merge_kernel(context, GYRE_F32, c.out.dtype)) continue;
        if (rule.is(trait::formed) && !(find_operands_kernel(context, c) && find_unformed_kernel(context, c))) continue;
        const AttentionKernel *kernel = find_in_family(rule, context, c);
        if (!kernel) continue;
        // Few queries have another family: one whose kernels multiply f32 numbers, or one that is not for many rows alone.
        const bool has_other = rule.is(trait::many_rows | trait::narrow) || is_padded_in_place(*kernel) ||
                               is_left_out(context, *kernel, c, false);
        if (!rule.is(trait::partial) || !has_other) return kernel;
        if (!left_out) left_out = kernel;
    }
    return left_out;
}

} // namespace gyre
