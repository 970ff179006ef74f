#include "attention/dispatch/sequence_kernels.h"

#include "attention/dispatch/dispatch.h"

namespace gyre {
namespace {

bool has_many_rows(const SequenceKernels &kernels, const AttentionCall &c, int64_t queries, int64_t keys_seen) {
    return is_x86 && kernels.many_rows && are_many_rows(c, *kernels.many_rows, *kernels.usual, queries, keys_seen);
}

/// The kernel for rows that are neither few nor many.
const AttentionKernel &tiled_kernel(const SequenceKernels &kernels, const AttentionCall &c, int64_t queries) {
    const AttentionKernel *narrow = is_x86 ? kernels.narrow : nullptr;
    const bool is_own = narrow && !narrow->padded;
    return is_own && c.rows(queries) <= narrow->row_tile ? *narrow : *kernels.usual;
}

/// The padded kernel that reads keys and values in place, if the sequence takes less time so. Head sizes of their own have others.
const AttentionKernel *padded_in_place(const SequenceKernels &kernels, const AttentionCall &c, const Sequence &s) {
    const AttentionKernel *narrow = kernels.narrow && kernels.narrow->padded ? kernels.narrow : nullptr;
    if (!is_x86 || !kernels.usual->padded) return nullptr;
    return choose_in_place(narrow, kernels.in_place, c.most_features(), c.rows(s.q_len), s.keys_shown);
}

bool has_few_rows(const SequenceKernels &kernels, const AttentionCall &c, const Sequence &s) {
    return kernels.few_rows && are_few_rows(*kernels.few_rows, tiled_kernel(kernels, c, s.q_len), c.most_features(),
                                            c.rows(s.q_len), s.keys_shown);
}

bool has_general_in_place(const SequenceKernels &kernels, const AttentionCall &c, const Sequence &s) {
    return is_x86 && kernels.general_in_place && gains_in_place(*kernels.general_in_place, c, s);
}

bool has_whole_rows(const SequenceKernels &kernels, const AttentionCall &c, const Sequence &s) {
    return is_x86 && kernels.whole_rows && are_whole_rows(c, *kernels.usual, *kernels.whole_rows, s);
}

} // namespace

bool SequenceKernels::takes_whole_rows(const AttentionCall &c, const Sequence &s) const {
    return !has_general_in_place(*this, c, s) && has_whole_rows(*this, c, s);
}

const AttentionKernel &SequenceKernels::choose(const AttentionCall &c, const Sequence &s) const {
    if (has_general_in_place(*this, c, s)) return *general_in_place;
    if (has_whole_rows(*this, c, s)) return *whole_rows;
    if (has_many_rows(*this, c, s.q_len, s.keys_shown)) return *many_rows;
    if (is_x86 && uncopied && are_rows_uncopied(c, s)) return *uncopied;
    if (few_keys && sees_few_keys(c, s.q_len, s.k_len)) return *few_keys;
    if (const AttentionKernel *padded = padded_in_place(*this, c, s)) return *padded;
    if (has_few_rows(*this, c, s)) return *few_rows;
    return tiled_kernel(*this, c, s.q_len);
}

void SequenceKernels::settle(const AttentionCall &c) {
    whole_rows = nullptr;
    if (c.has_cu_seqlens_q) return;
    if (!c.has_lengths()) {
        *this = {&of(c, c.sequence(0))};
        return;
    }
    if (!general_in_place && has_many_rows(*this, c, c.q.seqlen, c.k.seqlen)) {
        *this = {many_rows};
        return;
    }
    // The fewer keys, the sooner rows are many. What is made f32 is so in all sequences.
    const bool keys_decide = has_many_rows(*this, c, c.q.seqlen, 0) && many_rows->dtype == c.q.dtype;
    if (keys_decide) return;
    usual = &tiled_kernel(*this, c, c.q.seqlen);
    many_rows = nullptr;
    if (narrow && !narrow->padded) narrow = nullptr;
}

SequenceKernels find_sequence_kernels(const gyre_context &context, const AttentionCall &c, bool few_queries) {
    SequenceKernels found;
    found.usual = find_attention_kernel(context, c, few_queries);
    if (!found.usual) return found;
    found.general_in_place = find_general_in_place_kernel(context, c, *found.usual);
    if (!found.usual->is(trait::partial)) {
        found.few_keys = find_few_keys_kernel(context, c, *found.usual);
        found.uncopied = find_uncopied_kernel(context, c, *found.usual);
        return found;
    }
    found.few_rows = find_few_rows_kernel(context, c);
    if (!is_x86) return found;
    if (!found.usual->padded) {
        found.narrow = find_narrow_kernel(context, c);
    } else if (c.has_cu_seqlens_q || may_be_in_place(c.q.dtype, c.rows(c.q.seqlen), c.k.seqlen)) {
        found.narrow = find_narrow_kernel(context, c);
        found.in_place = find_in_place_kernel(context, c);
    }
    if (c.has_cu_seqlens_q || c.rows(c.q.seqlen) >= fewest_many_rows)
        found.many_rows = find_many_rows_kernel(context, c);
    if (c.has_lengths()) found.whole_rows = find_whole_rows_kernel(context, c);
    return found;
}

} // namespace gyre
