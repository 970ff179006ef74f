#include "cuda/attention.h"

#include "attention/dispatch.h"
#include "attention/split.h"
#include "cuda/angles.h"
#include "cuda/score_tensors.h"
#include "cuda/workspace.h"

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

const AttentionKernel *AttentionOnDevice::find_kernel(const gyre_context &context) const {
    const bool paged = args.page_table != nullptr;
    const bool few = has_few_queries(call, false) && find_merge_kernel(context, GYRE_F32, call.out.dtype, GYRE_CUDA);
    if (paged && !(is_copyable(pool(call.k)) && is_copyable(pool(call.v)))) {
        fail_without_kernel(context);
        return nullptr;
    }
    for (size_t family = 0; family < dispatch_rules().count; family++) {
        const DispatchRule &rule = dispatch_rules().first[family];
        const bool may_be_paged = rule.is(trait::general) || rule.is(trait::partial);
        const bool takes_sinks = rule.is(trait::general) || rule.is(trait::partial);
        if (!rule.takes(call, few) || (call.sinks && !takes_sinks) || (rule.is(trait::paged) != paged && !may_be_paged))
            continue;
        for (const AttentionKernel &k : attention_kernels(context, family))
            if (may_use(context, *k.kernel, GYRE_CUDA) && k.dtype == call.q.dtype && k.head_dim == call.q.dim &&
                k.head_dim == call.v.dim && (!call.score || k.score == call.score) && is_for_device(*k.kernel))
                return &k;
    }
    fail_without_kernel(context);
    return nullptr;
}

/// Where kernels cannot read keys or values as they are, those that they read are in the workspace. Pages stay where they are.
gyre_status AttentionOnDevice::prepare_rows(const gyre_context &context) {
    if (args.page_table) return GYRE_OK;
    const bool rotate_keys = std::exchange(call.rotate_keys, false);
    const bool rotate_values = std::exchange(call.rotate_values, false);
    if (call.empty() || call.sequences == 0) return GYRE_OK;
    PackedTokens packed;
    if (call.packed_keys) packed = {call.cu_seqlens_k, call.sequences};
    const auto rotated = [&](bool on, const Rotation &rotation, const char *rope) {
        return Rotated{on ? rotation : Rotation(), call.k_positions, rope, packed};
    };
    GYRE_TRY(keys.prepare(context, call.k, rotated(rotate_keys, call.rope, "rope"), "k"));
    GYRE_TRY(values.prepare(context, call.v, rotated(rotate_values, call.value_rope, "value_rope"), "v"));
    call.k = keys.view();
    call.v = values.view();
    return GYRE_OK;
}

/// Many queries are rotated by a launch before the kernel: it takes about 2 us, and each tile of the kernel over 10000 instructions per warp
/// for its rows, whether these exist or not.
gyre_status AttentionOnDevice::prepare_queries(const gyre_context &context) {
    const bool by_kernel = !call.rope.on || kernel->is(trait::partial) || !has_known_query_positions(call);
    if (by_kernel || call.empty() || call.sequences == 0) return GYRE_OK;
    const RotaryKernel *writer = find_row_writer(context, call.q.dtype, call.q.dtype, call.rope);
    if (!writer) return GYRE_OK;
    GYRE_TRY(queries.prepare_by(*writer, call.q, rotated_queries(call, call.rope, "rope"), "q"));
    call.q = queries.view();
    call.rope = Rotation();
    return GYRE_OK;
}

gyre_status AttentionOnDevice::prepare(gyre_context &context) {
    GYRE_TRY(check_target_device(context, GYRE_CUDA, "q"));
    GYRE_TRY(prepare_rows(context));
    kernel = find_kernel(context);
    if (!kernel) return GYRE_UNSUPPORTED;
    GYRE_TRY(prepare_queries(context));
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
    split.place(memory);
    GYRE_TRY(keys.fill(context, scope, context.frequencies[0]));
    GYRE_TRY(queries.fill(context, scope, context.frequencies[0]));
    GYRE_TRY(values.fill(context, scope, context.frequencies[1]));
    if (keys.bytes()) call.k = keys.view();
    if (values.bytes()) call.v = values.view();
    if (queries.bytes()) call.q = queries.view();
    const auto in_reach = [&](const Heads &t) { return cuda::in_reach(t, t.batch); };
    const bool whole = in_reach(call.q) && in_reach(call.out) &&
                       (args.page_table || (in_reach(call.k) && in_reach(call.v))) &&
                       cuda::in_reach(call, call.bias, call.q.batch) && cuda::in_reach(call, call.mask, call.q.batch) &&
                       cuda::in_reach(kernel->score_inputs, score_views, call, call.q.batch);
    const int64_t at_once = whole ? std::min(call.q.batch, split.most_batches()) : 1;
    for (int64_t first = 0; first < call.q.batch; first += at_once) {
        const int64_t batches = std::min(at_once, call.q.batch - first);
        GYRE_TRY(launch(context, scope, rope, value_rope, first, batches));
        if (split.on()) GYRE_TRY(split.merge(context, scope, first, batches));
    }
    context.select(*kernel->kernel);
    return GYRE_OK;
}

} // namespace gyre::cuda
