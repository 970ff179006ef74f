#include "cuda/attention/attention.h"

#include "attention/dispatch/dispatch.h"
#include "attention/plan/split.h"
#include "cuda/attention/score_tensors.h"
#include "cuda/driver/workspace.h"
#include "cuda/rotary/angles.h"

#include <algorithm>
#include <utility>

namespace gyre::cuda {

/// Whether the call's device, if that is known, runs a kernel of its target.
bool AttentionOnDevice::is_for_device(const Kernel &kernel_of_target) const {
    const bool needs_hopper =
        std::string_view(kernel_of_target.row->features).find(hopper_feature) != std::string_view::npos;
    const char *why;
    const Driver *driver = needs_hopper ? find_driver(&why) : nullptr;
    return !needs_hopper || (driver && device >= 0 && offers(*driver, device, hopper_feature));
}

/// What takes the call, its head sizes or, `padded`, the least that are larger: rows then are written into the workspace.
const AttentionKernel *AttentionOnDevice::find_kernel(const gyre_context &context, bool padded) const {
    const bool few = has_few_queries(call, false) && find_merge_kernel(context, GYRE_F32, call.out.dtype, GYRE_CUDA);
    const int64_t dim = std::max(call.q.dim, call.v.dim);
    for (size_t family = 0; family < dispatch_rules().count; family++) {
        const DispatchRule &rule = dispatch_rules().first[family];
        // These take sinks, and find keys and values by the call.
        const bool takes_more = rule.is(trait::general) || rule.is(trait::partial);
        const bool takes_less = !call.sinks && !has_entries_of_keys() && rule.is(trait::paged) == in_pages;
        if (!rule.takes(call, few) || !(takes_more || takes_less)) continue;
        const AttentionKernel *best = nullptr;
        for (const AttentionKernel &k : attention_kernels(context, family)) {
            const bool fits = padded ? k.head_dim >= dim : k.head_dim == call.q.dim && k.head_dim == call.v.dim;
            if (fits && may_use(context, *k.kernel, GYRE_CUDA) && k.dtype == call.q.dtype &&
                (!call.score || k.score == call.score) && is_for_device(*k.kernel) &&
                (!best || k.head_dim < best->head_dim))
                best = &k;
        }
        if (best) return best;
    }
    return nullptr;
}

/// True if queries are packed, and keys are not: each sequence has an entry of them.
bool AttentionOnDevice::has_entries_of_keys() const { return args.cu_seqlens_q && !call.packed_keys && !in_pages; }

/// Many queries read keys and values many times: kernels that know of no pages are so much faster that a copy pays, unless most of what the table
/// has room for is never read. On an H200 a prefill of 4096 tokens (32 heads on 8, 128) took 552 us with the copy and 847 by pages.
bool AttentionOnDevice::gathers_pages(const gyre_context &context) const {
    constexpr int64_t least_rows = 2048, most_keys = 4; // rows of a key head; keys of a query
    const bool plain = !call.general() && !call.sinks && !call.dropout.on && !args.cu_seqlens_q;
    return plain && call.q.seqlen * group() >= least_rows && call.k.seqlen <= most_keys * call.q.seqlen &&
           find_row_writer(context, call.k.dtype, call.k.dtype, Rotation(), true);
}

gyre_status AttentionOnDevice::choose_kernel(const gyre_context &context) {
    const bool rotates = call.rotate_keys || call.rotate_values;
    rotated_keys = std::exchange(call.rotate_keys, false) ? call.rope : Rotation();
    rotated_values = std::exchange(call.rotate_values, false) ? call.value_rope : Rotation();
    in_pages = args.page_table && (call.k.empty() || (!rotates && call.k.dtype == call.q.dtype &&
                                                      is_copyable(pool(call.k)) && is_copyable(pool(call.v))));
    const bool gathers = in_pages && !call.k.empty() && gathers_pages(context);
    in_pages = in_pages && !gathers;
    kernel = find_kernel(context, false);
    if (!kernel && gathers) {
        in_pages = true;
        kernel = find_kernel(context, false);
    }
    if (kernel || call.score) return kernel ? GYRE_OK : fail_without_kernel(context);
    in_pages = false;
    kernel = find_kernel(context, true);
    return kernel ? GYRE_OK : fail_without_kernel(context);
}

/// Keys and values that stay in pages are read there.
gyre_status AttentionOnDevice::prepare_pages(const gyre_context &context) {
    if (in_pages) return GYRE_OK;
    const auto pages_of = [&](const Heads &t) {
        return SourcePages{pool(t), call.pages.entries, call.pages.stride, call.pages.bits, call.seqused_k};
    };
    const SourcePages of_keys = pages_of(call.k), of_values = pages_of(call.v);
    const int64_t dim = kernel->head_dim;
    GYRE_TRY(keys.prepare(context, call.k, {rotated_keys, call.k_positions, "rope"}, of_keys, dim, call.q.dtype));
    GYRE_TRY(values.prepare(context, call.v, {rotated_values, call.k_positions, "value_rope"}, of_values, dim,
                            call.q.dtype));
    call.k = keys.view();
    call.v = values.view();
    if (has_entries_of_keys() && !(in_reach(call.k, call.k.batch) && in_reach(call.v, call.v.batch)))
        return refuse(GYRE_UNSUPPORTED, "page_table", "copies of all sequences' keys reach over 2^31 elements");
    return GYRE_OK;
}

/// Where kernels cannot read keys or values as they are, those that they read are in the workspace.
gyre_status AttentionOnDevice::prepare_rows(const gyre_context &context) {
    if (call.empty() || call.sequences == 0) return GYRE_OK;
    if (args.page_table) return prepare_pages(context);
    PackedTokens packed;
    if (call.packed_keys) packed = {call.cu_seqlens_k, call.sequences};
    const auto rotated = [&](const Rotation &rotation, const char *rope) {
        return Rotated{rotation, call.k_positions, rope, packed};
    };
    GYRE_TRY(keys.prepare(context, call.k, rotated(rotated_keys, "rope"), "k", kernel->head_dim, call.q.dtype));
    GYRE_TRY(
        values.prepare(context, call.v, rotated(rotated_values, "value_rope"), "v", kernel->head_dim, call.q.dtype));
    call.k = keys.view();
    call.v = values.view();
    return GYRE_OK;
}

/// Many queries are rotated by a launch before the kernel: it takes about 2 us, and each tile of the kernel over 10000 instructions per warp
/// for its rows, whether these exist or not.
gyre_status AttentionOnDevice::prepare_queries(const gyre_context &context) {
    if (call.empty() || call.sequences == 0) return GYRE_OK;
    const int64_t dim = kernel->head_dim;
    const bool by_kernel = !call.rope.on || kernel->is(trait::partial) || !has_known_query_positions(call);
    const RotaryKernel *writer = by_kernel ? nullptr : find_row_writer(context, call.q.dtype, call.q.dtype, call.rope);
    if (writer) {
        GYRE_TRY(queries.prepare_by(*writer, call.q, rotated_queries(call, call.rope, "rope"), "q", dim));
        call.rope = Rotation();
    } else if (call.q.dim < dim) {
        GYRE_TRY(
            queries.prepare(context, call.q, Rotated{Rotation(), Positions(), "rope", {}}, "q", dim, call.q.dtype));
    } else {
        return GYRE_OK;
    }
    call.q = queries.view();
    return GYRE_OK;
}

/// Results of more features than the call's are written into the workspace, and from there to where they belong. Merging leaves the
/// others out.
gyre_status AttentionOnDevice::prepare_results(const gyre_context &context) {
    if (call.empty() || call.sequences == 0 || kernel->is(trait::partial)) return GYRE_OK;
    GYRE_TRY(results.prepare(context, call.out, kernel->head_dim));
    call.out = results.view();
    return GYRE_OK;
}

gyre_status AttentionOnDevice::prepare(gyre_context &context) {
    GYRE_TRY(check_target_device(context, GYRE_CUDA, "q"));
    GYRE_TRY(choose_kernel(context));
    GYRE_TRY(prepare_rows(context));
    GYRE_TRY(prepare_queries(context));
    GYRE_TRY(prepare_results(context));
    if (call.score) {
        GYRE_TRY(check_score_inputs(args, call, kernel->score_inputs, needs_data, &score_views));
        GYRE_TRY(cuda::check_reach(kernel->score_inputs, score_views, call));
    }
    return split.prepare(context, call, *kernel, most_rows(kernel->task_rows, group()), device);
}

gyre_status AttentionOnDevice::run(gyre_context &context) {
    context.select(*kernel->kernel);
    if (device < 0 || call.empty()) return GYRE_OK;
    Scope scope;
    GYRE_TRY(scope.enter(device, stream_of(context)));
    DeviceAngles rope, value_rope;
    GYRE_TRY(rope.prepare(call.rope, "rope", context.frequencies[0]));
    GYRE_TRY(value_rope.prepare(call.value_rope, "value_rope", context.frequencies[1]));
    Workspace workspace(scope);
    GYRE_TRY(workspace.acquire(device, args.workspace, args.workspace_size, workspace_bytes(context)));
    char *memory = workspace.data();
    for (DenseRows *rows : {&keys, &values, &queries}) {
        rows->place(memory);
        memory += rows->bytes();
    }
    results.place(memory);
    split.place(memory + results.bytes());
    GYRE_TRY(keys.fill(context, scope, context.frequencies[0]));
    GYRE_TRY(queries.fill(context, scope, context.frequencies[0]));
    GYRE_TRY(values.fill(context, scope, context.frequencies[1]));
    if (keys.bytes()) call.k = keys.view();
    if (values.bytes()) call.v = values.view();
    if (queries.bytes()) call.q = queries.view();
    if (results.bytes()) call.out = results.view();
    const auto in_reach = [&](const Heads &t) { return cuda::in_reach(t, t.batch); };
    const bool whole = in_reach(call.q) && in_reach(call.out) && (in_pages || (in_reach(call.k) && in_reach(call.v))) &&
                       cuda::in_reach(call, call.bias, call.q.batch) && cuda::in_reach(call, call.mask, call.q.batch) &&
                       cuda::in_reach(kernel->score_inputs, score_views, call, call.q.batch);
    const int64_t at_once = whole ? std::min(call.q.batch, split.most_batches()) : 1;
    for (int64_t first = 0; first < call.q.batch; first += at_once) {
        const int64_t batches = std::min(at_once, call.q.batch - first);
        GYRE_TRY(launch(context, scope, rope, value_rope, first, batches));
        if (split.on()) GYRE_TRY(split.merge(context, scope, first, batches));
    }
    GYRE_TRY(results.store(context, scope));
    context.select(*kernel->kernel);
    return GYRE_OK;
}

} // namespace gyre::cuda
