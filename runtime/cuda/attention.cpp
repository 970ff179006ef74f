#include "cuda/attention.h"

#include "attention/dispatch.h"
#include "attention/split.h"
#include "cuda/angles.h"
#include "cuda/launch.h"
#include "cuda/score_tensors.h"
#include "cuda/workspace.h"

#include <algorithm>
#include <cmath>

namespace gyre::cuda {
namespace {

constexpr int32_t unbounded = 1 << 29; // of windows; beside positions below 2^28
constexpr float log2_e = 1.44269504088896f;
constexpr int64_t copied_bytes = 16; // at once, asynchronously

bool is_copyable(const Heads &t) {
    const auto size = static_cast<int64_t>(element_size(t.dtype));
    bool aligned = reinterpret_cast<uintptr_t>(t.data) % copied_bytes == 0;
    for (const auto &[extent, stride] :
         {std::pair(t.batch, t.batch_stride), std::pair(t.seqlen, t.token_stride), std::pair(t.heads, t.head_stride)})
        aligned = aligned && (extent < 2 || stride * size % copied_bytes == 0);
    return aligned;
}

} // namespace

const AttentionKernel *AttentionOnDevice::find_kernel(const gyre_context &context) const {
    const bool paged = args.page_table != nullptr;
    const bool few = has_few_queries(call, false) && find_merge_kernel(context, GYRE_F32, call.out.dtype, GYRE_CUDA);
    const bool copyable =
        paged ? is_copyable(pool(call.k)) && is_copyable(pool(call.v)) : is_copyable(call.k) && is_copyable(call.v);
    for (size_t family = 0; family < dispatch_rules().count; family++) {
        const DispatchRule &rule = dispatch_rules().first[family];
        const bool may_be_paged = rule.is(trait::general) || rule.is(trait::partial);
        const bool takes_sinks = rule.is(trait::general) || rule.is(trait::partial);
        if (!rule.takes(call, few) || (call.sinks && !takes_sinks) ||
            (rule.is(trait::paged) != paged && !may_be_paged) || (rule.is(trait::as_stored) && !copyable))
            continue;
        for (const AttentionKernel &k : attention_kernels(context, family))
            if (may_use(context, *k.kernel, GYRE_CUDA) && k.dtype == call.q.dtype && k.head_dim == call.q.dim &&
                k.head_dim == call.v.dim)
                return &k;
    }
    fail_without_kernel(copyable);
    return nullptr;
}

gyre_status AttentionOnDevice::prepare(gyre_context &context) {
    GYRE_TRY(check_target_device(context, GYRE_CUDA, "q"));
    kernel = find_kernel(context);
    if (!kernel) return GYRE_UNSUPPORTED;
    const bool any = !call.empty() && !call.k.empty();
    GYRE_TRY(split.prepare(context, call, *kernel, most_rows(kernel->task_rows, group()), device));
    const bool same = call.same_angles && call.rotate_keys;
    GYRE_TRY(key_angles.prepare(context, call, call.rope, any && call.rotate_keys, "rope"));
    return value_angles.prepare(context, call, call.value_rope, any && call.rotate_values && !same, "value_rope");
}

gyre_status AttentionOnDevice::run(gyre_context &context) {
    context.select(*kernel->kernel);
    if (device < 0 || call.empty()) return GYRE_OK;
    Scope scope;
    GYRE_TRY(scope.enter(device));
    DeviceAngles rope, value_rope;
    GYRE_TRY(rope.prepare(call.rope, "rope", context.frequencies[0]));
    GYRE_TRY(value_rope.prepare(call.value_rope, "value_rope", context.frequencies[1]));
    Workspace workspace(scope, context);
    GYRE_TRY(workspace.acquire(device, args.workspace, args.workspace_size, workspace_bytes(context)));
    char *const of_values = workspace.data() + key_angles.bytes();
    key_angles.place(workspace.data());
    value_angles.place(of_values);
    split.place(of_values + value_angles.bytes());
    GYRE_TRY(key_angles.fill(context, scope, rope, call.k_positions, axes()));
    GYRE_TRY(value_angles.fill(context, scope, value_rope, call.k_positions, axes()));
    const auto in_reach = [&](const Heads &t) { return cuda::in_reach(t, t.batch); };
    const bool whole = in_reach(call.q) && in_reach(call.out) && key_angles.in_reach() && value_angles.in_reach() &&
                       (args.page_table || (in_reach(call.k) && in_reach(call.v))) &&
                       cuda::in_reach(call, call.bias, call.q.batch) && cuda::in_reach(call, call.mask, call.q.batch);
    const int64_t at_once = whole ? std::min(call.q.batch, split.most_batches()) : 1;
    for (int64_t first = 0; first < call.q.batch; first += at_once) {
        const int64_t batches = std::min(at_once, call.q.batch - first);
        GYRE_TRY(launch(context, scope, rope, value_rope, first, batches));
        if (split.on()) GYRE_TRY(split.merge(context, scope, first, batches));
    }
    context.select(*kernel->kernel);
    return GYRE_OK;
}

gyre_status AttentionOnDevice::launch(gyre_context &context, const Scope &scope, DeviceAngles &rope,
                                      DeviceAngles &value_rope, int64_t first, int64_t batches) const {
    const bool packed_q = args.cu_seqlens_q, packed_k = call.packed_keys, paged = args.page_table;
    const halide_type_t i32 = halide_type(GYRE_I32), f32 = halide_type(GYRE_F32);
    DevicePositions q_positions;
    GYRE_TRY(q_positions.place(call.q_positions, "q_positions", first, 0, batches, call.q.seqlen, axes()));
    const int64_t rows = most_rows(kernel->task_rows, split.on() ? group() : 1);
    const auto view = [&](Buffer *b, const Heads &t, int64_t tokens) {
        b->describe(t.at(first, 0, 0), halide_type(t.dtype),
                    {{t.dim, 1}, {t.heads, t.head_stride}, {tokens, t.token_stride}, {batches, t.batch_stride}});
    };
    const auto view_keys = [&](Buffer *b, const Heads &t) {
        if (!paged) return view(b, t, t.seqlen);
        const Heads p = pool(t);
        b->describe(p.data, halide_type(p.dtype),
                    {{p.dim, 1}, {p.heads, p.head_stride}, {p.seqlen, p.token_stride}, {p.batch, p.batch_stride}});
    };
    Buffer q, k, v, out, lse, q_bounds, k_bounds, counts, table, keys_angles, values_angles;
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
    key_angles.view(first, batches, &keys_angles);
    const bool same = call.same_angles && call.rotate_keys;
    (same ? key_angles : value_angles).view(first, batches, &values_angles);
    const int32_t key_pairs = call.rotate_keys ? call.rope.pairs : 0;
    const int32_t value_pairs = call.rotate_values ? call.value_rope.pairs : 0;
    const bool angles_by_token = packed_k && call.k_positions.data;
    const auto heads_of_key = static_cast<int32_t>(group()), parts = static_cast<int32_t>(split.parts());
    const auto bound = [](int64_t window) { return window < 0 ? unbounded : static_cast<int32_t>(window); };
    const int32_t left = bound(call.left), right = bound(call.right);
    const float scale = std::abs(call.scale) * log2_e, sign = call.scale < 0 ? -1.0f : 1.0f;
    const bool has_alibi = call.alibi, has_sinks = call.sinks;
    const float softcap = call.softcap * log2_e;
    Buffer alibi(call.alibi, f32, {{call.q.heads, 1}}), sinks(call.sinks, f32, {{call.q.heads, 1}});
    ScoreTensors added(call, first, batches);
    using A = AttentionCudaArguments;
    KernelArguments<A> arguments;
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
    arguments[A::key_angles] = &keys_angles;
    arguments[A::value_key_angles] = &values_angles;
    arguments[A::key_pairs] = &key_pairs;
    arguments[A::value_key_pairs] = &value_pairs;
    arguments[A::angles_by_token] = &angles_by_token;
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
    added.add_to(&arguments);
    return cuda::launch(context, scope, *kernel->kernel, arguments);
}

} // namespace gyre::cuda
