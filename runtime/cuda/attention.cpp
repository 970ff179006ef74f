#include "cuda/attention.h"

#include "attention/dispatch.h"
#include "attention/split.h"
#include "cuda/angles.h"
#include "cuda/score_tensors.h"
#include "cuda/workspace.h"

#include <algorithm>

namespace gyre::cuda {
namespace {

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
                k.head_dim == call.v.dim && (!call.score || k.score == call.score))
                return &k;
    }
    fail_without_kernel(context, copyable);
    return nullptr;
}

gyre_status AttentionOnDevice::prepare(gyre_context &context) {
    GYRE_TRY(check_target_device(context, GYRE_CUDA, "q"));
    kernel = find_kernel(context);
    if (!kernel) return GYRE_UNSUPPORTED;
    if (call.score) {
        GYRE_TRY(check_score_inputs(args, call, kernel->score_inputs, needs_data, &score_views));
        GYRE_TRY(cuda::check_reach(kernel->score_inputs, score_views, call));
    }
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
