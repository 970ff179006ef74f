#include "attention/dispatch/dispatch.h"

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

/// Such kernels gain with some rows and keys alone (choose_in_place()), so that others serve their calls.
bool is_padded_in_place(const AttentionKernel &k) {
    return k.padded && k.is(trait::partial) && k.is(trait::as_stored) && !k.is(trait::general);
}

/// True if a kernel is left out where another one takes less time. A context whose target is forced takes all of that target's own. Masks keep
/// kernels whose row tiles are whole ones of those that take rows of a range (AttentionTask::unmasked). How long pairs of bf16 numbers take beside
/// matrix tiles, for parts of keys, was not measured.
bool is_left_out(const gyre_context &context, const AttentionKernel &k, const AttentionCall &c, bool without_terms) {
    if (k.kernel->row == context.forced) return false;
    if (k.has_terms()) return without_terms || (k.padded && k.dtype == GYRE_F32); // what pads is multiplied, too
    const bool beside_tiles = k.is(trait::partial) && has_matrix_tiles(*context.best);
    if (beside_tiles && k.dtype == GYRE_BF16 && is_padded_in_place(k)) return true; // nor was how long these take
    return k.has_bf16_dots() && (has_slow_bf16_dots() || beside_tiles) && !c.mask.data;
}

const AttentionKernel *find_in_family(const DispatchRule &rule, const gyre_context &context, const AttentionCall &c,
                                      bool without_terms = false) {
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

} // namespace

RowList<DispatchRule> dispatch_rules() { return {rules, sizeof rules / sizeof rules[0]}; }

const AttentionKernel *find_attention_kernel(const gyre_context &context, const AttentionCall &c, bool few_queries) {
    const AttentionKernel *kernel = find_by_rules(context, c, few_queries);
    if (!is_x86 || !kernel || !kernel->is(trait::partial) || c.has_lengths() || c.sequences == 0) return kernel;
    if (!may_have_whole_rows(c)) return kernel;
    const AttentionKernel *whole = find_by_rules(context, c, false);
    return whole && are_whole_rows(c, *kernel, *whole, c.sequence(0)) ? whole : kernel;
}

const AttentionKernel *find_whole_rows_kernel(const gyre_context &context, const AttentionCall &c) {
    return is_x86 ? find_by_rules(context, c, false) : nullptr;
}

const AttentionKernel *find_narrow_kernel(const gyre_context &context, const AttentionCall &c) {
    if (c.rotate_keys || c.rotate_values || c.value_blocks || c.general() || c.dropout.on || c.score) return nullptr;
    const AttentionKernel *kernel = find_kernel_with(trait::partial | trait::as_stored | trait::narrow, context, c);
    return kernel && !is_left_out(context, *kernel, c, false) ? kernel : nullptr;
}

const AttentionKernel *find_in_place_kernel(const gyre_context &context, const AttentionCall &c) {
    if (c.rotate_keys || c.rotate_values || c.value_blocks || c.general() || c.dropout.on || c.score) return nullptr;
    const AttentionKernel *kernel = find_kernel_with(trait::partial | trait::as_stored, context, c);
    return kernel && is_padded_in_place(*kernel) && !is_left_out(context, *kernel, c, false) ? kernel : nullptr;
}

const AttentionKernel *find_own_keys_kernel(const gyre_context &context, const AttentionCall &c) {
    if (c.rotate_keys || c.rotate_values || c.dropout.on || c.score) return nullptr;
    return find_kernel_with(trait::general | trait::partial | trait::as_stored | trait::own_keys, context, c);
}

const AttentionKernel *find_few_rows_kernel(const gyre_context &context, const AttentionCall &c) {
    if (c.rotate_keys || c.rotate_values || c.value_blocks || c.general() || c.dropout.on) return nullptr;
    return find_kernel_with(trait::general | trait::partial | trait::as_stored, context, c);
}

const AttentionKernel *find_many_rows_kernel(const gyre_context &context, const AttentionCall &c) {
    constexpr int64_t most_widened = 128;
    if (c.rotate_keys || c.rotate_values || c.value_blocks || c.dropout.on || c.score) return nullptr;
    const bool has_options = c.general();
    // Tasks of one head have few rows, and beside matrix tiles nothing was measured.
    if (has_options && ((c.mask.data && c.mask.strides[1] != 0) || has_matrix_tiles(*context.best))) return nullptr;
    const auto own_with = [&](unsigned as_stored) {
        return has_options ? nullptr : find_kernel_with(trait::partial | trait::many_rows | as_stored, context, c);
    };
    const AttentionKernel *in_place = own_with(trait::as_stored);
    const bool was_measured = in_place && !(in_place->padded && has_matrix_tiles(*context.best));
    if (was_measured) return in_place;
    if (const AttentionKernel *own = own_with(0)) return own;
    const auto is_usable = [](const AttentionKernel *k, int64_t bytes) {
        return k && k->vector_bytes >= bytes && !k->has_terms() && !k->on_tiles;
    };
    // Sequences of one call have one type of kernel.
    if (c.q.dtype == GYRE_F16 && !c.has_cu_seqlens_q && !has_options) {
        if (c.k.heads == 0 || c.q.seqlen * (c.q.heads / c.k.heads) < least_many_rows) return nullptr;
        AttentionCall wide = c;
        wide.q.dtype = GYRE_F32;
        const AttentionKernel *many = find_unformed_kernel(context, wide, true);
        return is_usable(many, avx512_bytes) && many->head_dim <= most_widened ? many : nullptr;
    }
    if (c.q.dtype != GYRE_F32) return nullptr;
    const AttentionKernel *many = find_unformed_kernel(context, c, true);
    return is_usable(many, avx2_bytes) ? many : nullptr;
}

const AttentionKernel *find_uncopied_kernel(const gyre_context &context, const AttentionCall &c,
                                            const AttentionKernel &usual) {
    if (!is_x86 || usual.is(trait::general | trait::dropout | trait::score) || has_matrix_tiles(*context.best))
        return nullptr;
    if (c.q.dtype != GYRE_F32 || c.k.dtype != GYRE_F32 || c.rotate_keys || c.rotate_values || c.k.heads == 0)
        return nullptr;
    if (c.sinks || c.pages.pages > 0) return nullptr; // kernels of parts have no sinks; pages were not measured
    const AttentionKernel *found = find_kernel_with(trait::partial | trait::many_rows | trait::as_stored, context, c);
    // Blocks of as many keys have the same bits.
    const bool is_alike =
        found && found->vector_bytes == usual.vector_bytes && found->key_block == usual.key_block && !usual.on_tiles;
    return is_alike ? found : nullptr;
}

const AttentionKernel *find_key_columns_kernel(const gyre_context &context, const AttentionCall &c,
                                               const AttentionKernel &usual) {
    if (!is_x86 || usual.is(trait::dropout | trait::score) || has_matrix_tiles(*context.best)) return nullptr;
    if (c.q.dtype != GYRE_F32 || c.rotate_keys || c.rotate_values || c.value_blocks || c.k.heads == 0) return nullptr;
    if (c.sinks && !usual.is(trait::partial)) return nullptr; // kernels of parts have no sinks
    if (!c.has_cu_seqlens_q && !may_gain_by_key_columns(c, c.q.seqlen * (c.q.heads / c.k.heads))) return nullptr;
    return find_kernel_with(trait::general | trait::partial | trait::many_rows | trait::as_stored, context, c);
}

const AttentionKernel *find_unformed_kernel(const gyre_context &context, const AttentionCall &c, bool without_terms) {
    for (const DispatchRule &rule : rules) {
        if (rule.is(trait::formed) || !rule.takes(c, false)) continue;
        if (const AttentionKernel *kernel = find_in_family(rule, context, c, without_terms)) return kernel;
    }
    return nullptr;
}

const AttentionKernel *find_few_keys_kernel(const gyre_context &context, const AttentionCall &c,
                                            const AttentionKernel &kernel) {
    return kernel.has_terms() && !kernel.is(trait::partial) ? find_unformed_kernel(context, c, true) : nullptr;
}

} // namespace gyre
