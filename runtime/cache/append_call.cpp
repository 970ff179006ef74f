#include "cache/append_call.h"

#include "cache/written_pages.h"
#include "core/run_call.h"

#include <algorithm>

namespace gyre {
namespace {

gyre_status prepare_kernel(const gyre_context &context, Appended *t) {
    const Rotation &r = t->rotation;
    const RotaryKernel *kernel = find_rotary_kernel(context, t->from.dtype, t->to.dtype, r.pairing);
    if (!kernel && !r.on) kernel = find_rotary_kernel(context, t->from.dtype, t->to.dtype, GYRE_INTERLEAVED);
    if (!kernel)
        return refuse(GYRE_UNSUPPORTED, t->name, "no linked kernel writes %s as %s on %s", dtype_name(t->from.dtype),
                      dtype_name(t->to.dtype), context.best->name);
    t->rotate = {kernel, r.offset, r.pairs, 1, false};
    return GYRE_OK;
}

size_t rows_bytes(const Rotation &r) { return round_up(run_tokens * Angles::row_floats(r) * sizeof(float)); }

} // namespace

NewTokens AppendCall::of_sequence(int64_t sequence) const {
    const int64_t held = cache_seqlens ? cache_seqlens[sequence] : 0;
    if (!cu_seqlens) return {sequence, sequence, 0, k.from.seqlen, held};
    return {sequence, 0, cu_seqlens[sequence], cu_seqlens[sequence + 1] - cu_seqlens[sequence], held};
}

NewTokens AppendCall::from_token(int64_t token) const {
    const int64_t sequence = cu_seqlens
                                 ? std::upper_bound(cu_seqlens, cu_seqlens + sequences + 1, token) - cu_seqlens - 1
                                 : token / k.from.seqlen;
    NewTokens n = of_sequence(sequence);
    const int64_t skipped = token - (cu_seqlens ? n.first : sequence * k.from.seqlen);
    n.first += skipped;
    n.slot += skipped;
    n.count -= skipped;
    return n;
}

gyre_status AppendCall::prepare(gyre_context &context) {
    for (Appended *t : {&k, &v}) GYRE_TRY(prepare_kernel(context, t));
    scratch_bytes = std::max(k.rotate.kernel->workspace, v.rotate.kernel->workspace);
    k_rows_bytes = v_rows_bytes = 0;
    values_bytes =
        value_blocks ? round_up(static_cast<size_t>(run_tokens * v.to.heads * v.to.dim) * element_size(v.to.dtype)) : 0;
    if (k.rotation.on) {
        GYRE_TRY(k.angles.prepare(context, k.rotation, context.frequencies[0]));
        k_rows_bytes = rows_bytes(k.rotation);
        scratch_bytes = std::max(scratch_bytes, k.angles.scratch_bytes(run_tokens));
    }
    if (v.rotation.on && !same_angles) {
        GYRE_TRY(v.angles.prepare(context, v.rotation, context.frequencies[1]));
        v_rows_bytes = rows_bytes(v.rotation);
        scratch_bytes = std::max(scratch_bytes, v.angles.scratch_bytes(run_tokens));
    }
    scratch_bytes = round_up(scratch_bytes);
    return GYRE_OK;
}

/// Runs of tokens go over the ends of sequences, so that a decode step of many sequences is few tasks.
int64_t AppendCall::tasks() const { return k.empty() && v.empty() ? 0 : ceil_div(tokens(), run_tokens); }

/// A sequence may begin and end within a page.
int64_t AppendCall::most_pages() const {
    return paged && tasks() ? std::min(tokens(), (tokens() >> pages.bits) + 2 * sequences) : 0;
}

size_t AppendCall::workspace_bytes(const gyre_context &context) const {
    return std::max(WrittenPages::bytes(most_pages()), bytes_of_slabs(slab_bytes(), context.threads.size(), tasks()));
}

} // namespace gyre
