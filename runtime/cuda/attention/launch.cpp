// What a kernel is called with, for a run of batch entries.
#include "cuda/driver/launch.h"
#include "attention/call/head_terms.h"
#include "cuda/attention/attention.h"
#include "cuda/attention/score_function.h"
#include "cuda/attention/score_tensors.h"
#include "cuda/rotary/angles.h"

#include <cmath>

namespace gyre::cuda {
namespace {

constexpr int32_t unbounded = 1 << 29; // of windows; beside positions below 2^28

} // namespace

gyre_status AttentionOnDevice::launch(gyre_context &context, const Scope &scope, DeviceAngles &rope,
                                      DeviceAngles &value_rope, int64_t first, int64_t batches) const {
    const bool packed_q = args.cu_seqlens_q, packed_k = call.packed_keys, paged = in_pages;
    const halide_type_t i32 = halide_type(GYRE_I32), f32 = halide_type(GYRE_F32);
    DevicePositions q_positions;
    GYRE_TRY(q_positions.place(call.q_positions, "q_positions", first, 0, batches, call.q.seqlen, axes()));
    const int64_t rows = most_rows(kernel->task_rows, split.on() ? group() : 1);
    const auto view_entries = [&](Buffer *b, const Heads &t, int64_t tokens, int64_t entries) {
        b->describe(t.at(first, 0, 0), halide_type(t.dtype),
                    {{t.dim, 1}, {t.heads, t.head_stride}, {tokens, t.token_stride}, {entries, t.batch_stride}});
    };
    const auto view = [&](Buffer *b, const Heads &t, int64_t tokens) { view_entries(b, t, tokens, batches); };
    const auto view_keys = [&](Buffer *b, const Heads &t) {
        if (!paged) return view_entries(b, t, t.seqlen, has_entries_of_keys() ? t.batch : batches);
        const Heads p = pool(t);
        b->describe(p.data, halide_type(p.dtype),
                    {{p.dim, 1}, {p.heads, p.head_stride}, {p.seqlen, p.token_stride}, {p.batch, p.batch_stride}});
    };
    Buffer q, k, v, out, lse, q_bounds, k_bounds, counts, table;
    view(&q, call.q, call.q.seqlen);
    view_keys(&k, call.k);
    view_keys(&v, call.v);
    lse.describe(nullptr, f32, {{0, 1}, {0, 0}, {0, 0}});
    if (call.lse.data)
        lse.describe(call.lse.at(first, 0, 0), f32,
                     {{rows, 1}, {call.q.heads, call.lse.head_stride}, {batches, call.lse.batch_stride}});
    if (split.on())
        split.view(rows, batches, &out, &lse);
    else
        view(&out, call.out, rows);
    // Packed sequences have one launch. In others, entry first + i has place i in the lists.
    const bool has_counts = call.seqused_k != nullptr, bottom_right = call.alignment == GYRE_BOTTOM_RIGHT;
    const auto sequences = static_cast<int32_t>(packed_q ? call.sequences : batches);
    q_bounds.describe(call.cu_seqlens_q, i32, {{sequences + 1, 1}});
    k_bounds.describe(call.cu_seqlens_k, i32, {{sequences + 1, 1}});
    counts.describe(has_counts ? call.seqused_k + first : nullptr, i32, {{sequences, 1}});
    table.describe(paged ? call.pages.entries + first * call.pages.stride : nullptr, i32,
                   {{paged ? call.k.seqlen >> call.pages.bits : 1, 1}, {sequences, call.pages.stride}});
    const int32_t page_bits = call.pages.bits, keys = static_cast<int32_t>(call.k.seqlen);
    const auto heads_of_key = static_cast<int32_t>(group()), parts = static_cast<int32_t>(split.parts());
    const auto bound = [](int64_t window) { return window < 0 ? unbounded : static_cast<int32_t>(window); };
    const int32_t left = bound(call.left), right = bound(call.right);
    const float scale = std::abs(call.scale) * log2_e, sign = call.scale < 0 ? -1.0f : 1.0f;
    const bool has_alibi = call.alibi, has_sinks = call.sinks;
    const float softcap = call.softcap * log2_e;
    Buffer alibi(call.alibi, f32, {{call.q.heads, 1}}), sinks(call.sinks, f32, {{call.q.heads, 1}});
    ScoreTensors added(call, first, batches);
    const auto first_entry = static_cast<int32_t>(first);
    const auto seed_low = static_cast<uint32_t>(call.dropout.seed),
               seed_high = static_cast<uint32_t>(call.dropout.seed >> 32);
    AskedTensors asked(kernel->score_inputs, score_views, call, first, batches);
    using A = AttentionCudaArguments;
    KernelArguments<A> arguments(kernel->places);
    arguments[A::rope_frequencies] = &rope.frequencies_view;
    arguments[A::rope_axis] = &rope.axes_view;
    arguments[A::rope_cos] = &rope.cos_view;
    arguments[A::rope_sin] = &rope.sin_view;
    arguments[A::rope_has_tables] = &rope.has_tables;
    arguments[A::rope_scale] = &rope.scale;
    arguments[A::rope_pairs] = &rope.pairs;
    arguments[A::rope_interleaved] = &rope.interleaved;
    arguments[A::value_frequencies] = &value_rope.frequencies_view;
    arguments[A::value_axis] = &value_rope.axes_view;
    arguments[A::value_cos] = &value_rope.cos_view;
    arguments[A::value_sin] = &value_rope.sin_view;
    arguments[A::value_has_tables] = &value_rope.has_tables;
    arguments[A::value_scale] = &value_rope.scale;
    arguments[A::value_pairs] = &value_rope.pairs;
    arguments[A::value_interleaved] = &value_rope.interleaved;
    arguments[A::q_positions] = &q_positions.view;
    arguments[A::has_q_positions] = &q_positions.given;
    arguments[A::q_bounds] = &q_bounds;
    arguments[A::k_bounds] = &k_bounds;
    arguments[A::packed_q] = &packed_q;
    arguments[A::packed_k] = &packed_k;
    arguments[A::sequences] = &sequences;
    arguments[A::key_counts] = &counts;
    arguments[A::has_key_counts] = &has_counts;
    arguments[A::page_table] = &table;
    arguments[A::page_bits] = &page_bits;
    arguments[A::keys] = &keys;
    arguments[A::bottom_right] = &bottom_right;
    arguments[A::group] = &heads_of_key;
    arguments[A::left] = &left;
    arguments[A::right] = &right;
    arguments[A::scale] = &scale;
    arguments[A::sign] = &sign;
    arguments[A::parts] = &parts;
    arguments[A::has_pages] = &paged;
    arguments[A::softcap] = &softcap;
    arguments[A::alibi] = &alibi;
    arguments[A::sinks] = &sinks;
    arguments[A::has_alibi] = &has_alibi;
    arguments[A::has_sinks] = &has_sinks;
    arguments[A::q] = &q;
    arguments[A::k] = &k;
    arguments[A::v] = &v;
    arguments[A::out] = &out;
    arguments[A::lse] = &lse;
    arguments[A::first_entry] = &first_entry;
    added.add_to(&arguments);
    arguments[A::dropout_threshold] = &call.dropout.threshold;
    arguments[A::dropout_seed_low] = &seed_low;
    arguments[A::dropout_seed_high] = &seed_high;
    arguments[A::dropout_offset] = &call.dropout.offset;
    arguments[A::dropout_keep_scale] = &call.dropout.keep_scale;
    asked.add_to(&arguments);
    return cuda::launch(context, scope, *kernel->kernel, arguments);
}

} // namespace gyre::cuda
