#include "attention/dispatch/families.h"

#include <algorithm>

namespace gyre {

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
    if (!c.is_in_rows() || c.general() || c.dropout.on) return nullptr;
    const AttentionKernel *kernel = find_kernel_with(trait::partial | trait::as_stored | trait::narrow, context, c);
    return kernel && !is_left_out(context, *kernel, c, false) ? kernel : nullptr;
}

const AttentionKernel *find_in_place_kernel(const gyre_context &context, const AttentionCall &c) {
    if (!c.is_in_rows() || c.general() || c.dropout.on) return nullptr;
    const AttentionKernel *kernel = find_kernel_with(trait::partial | trait::as_stored, context, c);
    return kernel && is_padded_in_place(*kernel) && !is_left_out(context, *kernel, c, false) ? kernel : nullptr;
}

const AttentionKernel *find_own_keys_kernel(const gyre_context &context, const AttentionCall &c) {
    if (!c.is_in_rows() || c.dropout.on || c.score) return nullptr;
    return find_kernel_with(trait::general | trait::partial | trait::as_stored | trait::own_keys, context, c);
}

const AttentionKernel *find_few_rows_kernel(const gyre_context &context, const AttentionCall &c) {
    if (!c.is_in_rows() || c.general() || c.dropout.on) return nullptr;
    return find_kernel_with(trait::general | trait::partial | trait::as_stored, context, c);
}

const AttentionKernel *find_many_rows_kernel(const gyre_context &context, const AttentionCall &c) {
    constexpr int64_t most_widened = 128;
    if (!c.is_in_rows() || c.dropout.on || c.score) return nullptr;
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
        if (c.k.heads == 0 || c.rows(c.q.seqlen) < least_many_rows) return nullptr;
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
    if (c.q.dtype != GYRE_F32 || c.k.dtype != GYRE_F32 || !c.is_in_rows() || c.k.heads == 0) return nullptr;
    if (c.sinks || c.pages.pages > 0) return nullptr; // kernels of parts have no sinks; pages were not measured
    const AttentionKernel *found = find_kernel_with(trait::partial | trait::many_rows | trait::as_stored, context, c);
    // Blocks of as many keys have the same bits.
    const bool is_alike =
        found && found->vector_bytes == usual.vector_bytes && found->key_block == usual.key_block && !usual.on_tiles;
    return is_alike ? found : nullptr;
}

const AttentionKernel *find_general_in_place_kernel(const gyre_context &context, const AttentionCall &c,
                                                    const AttentionKernel &usual) {
    if (!is_x86 || usual.is(trait::dropout | trait::score) || has_matrix_tiles(*context.best)) return nullptr;
    if (c.q.dtype != GYRE_F32 || !c.is_in_rows() || c.k.heads == 0) return nullptr;
    if (c.sinks) return nullptr; // kernels of parts have none, and a call with lengths has the bits of one without
    const AttentionKernel *found =
        find_kernel_with(trait::general | trait::partial | trait::many_rows | trait::as_stored, context, c);
    const bool may_gain = found && (c.has_cu_seqlens_q || may_gain_in_place(*found, c, c.q.seqlen));
    return may_gain ? found : nullptr;
}

const AttentionKernel *find_unformed_kernel(const gyre_context &context, const AttentionCall &c, bool without_terms) {
    for (const DispatchRule &rule : dispatch_rules()) {
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
