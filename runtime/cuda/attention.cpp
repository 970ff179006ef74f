#include "cuda/attention.h"

#include "attention/check.h"
#include "attention/dispatch.h"
#include "cuda/angles.h"
#include "cuda/launch.h"

#include <algorithm>
#include <cmath>

namespace gyre {
namespace {

constexpr int32_t unbounded = 1 << 29;                  // of windows; beside positions below 2^28
constexpr double least_scale = 1e-20, most_scale = 1e8; // so that a masked score's power is 0, and finite before
constexpr int64_t copied_bytes = 16;                    // at once, asynchronously

bool is_copyable(const Heads &t) {
    const auto size = static_cast<int64_t>(element_size(t.dtype));
    bool aligned = reinterpret_cast<uintptr_t>(t.data) % copied_bytes == 0;
    for (const auto &[extent, stride] :
         {std::pair(t.batch, t.batch_stride), std::pair(t.seqlen, t.token_stride), std::pair(t.heads, t.head_stride)})
        aligned = aligned && (extent < 2 || stride * size % copied_bytes == 0);
    return aligned;
}

bool in_reach(const Heads &x, int64_t batches) {
    return fits_kernel_index(
        {{x.dim, 1}, {x.heads, x.head_stride}, {x.seqlen, x.token_stride}, {batches, x.batch_stride}});
}

} // namespace

bool AttentionOnDevice::place(const gyre_attention_args &given) {
    args = given;
    tensors = {{&args.q, "q"}, {&args.k, "k"}, {&args.v, "v"}, {&args.out, "out"}};
    int count = 0;
    const auto add = [&](const gyre_tensor *&t, const char *name) {
        if (!t) return;
        copies[count] = *t;
        t = &copies[count];
        tensors.push_back({&copies[count++], name});
    };
    add(args.lse, "lse"), add(args.bias, "bias"), add(args.mask, "mask"), add(args.sinks, "sinks");
    add(args.alibi, "alibi"), add(args.seqused_k, "seqused_k"), add(args.cu_seqlens_q, "cu_seqlens_q");
    add(args.cu_seqlens_k, "cu_seqlens_k"), add(args.page_table, "page_table");
    add(args.q_positions, "q_positions"), add(args.k_positions, "k_positions");
    const auto add_rope = [&](const gyre_rope *&rope, gyre_rope *copy, const char *cos, const char *sin) {
        if (!rope || rope->size != sizeof *rope) return; // else it is refused
        *copy = *rope;
        rope = copy;
        add(copy->cos, cos), add(copy->sin, sin);
    };
    add_rope(args.rope, &ropes[0], "rope.cos", "rope.sin");
    add_rope(args.value_rope, &ropes[1], "value_rope.cos", "value_rope.sin");
    return cuda::any_on_device(tensors);
}

gyre_status AttentionOnDevice::refuse_unsupported() const {
    const std::pair<bool, const char *> no_kernel_takes[] = {{args.bias, "bias"},
                                                             {args.mask, "mask"},
                                                             {args.sinks, "sinks"},
                                                             {args.alibi, "alibi"},
                                                             {args.softcap != 0, "softcap"},
                                                             {args.score, "score"},
                                                             {args.dropout != 0, "dropout"},
                                                             {args.layout == GYRE_THD, "layout"},
                                                             {args.page_table, "page_table"},
                                                             {args.value_order != GYRE_VALUES_IN_ROWS, "value_order"}};
    for (const auto &[given, name] : no_kernel_takes)
        if (given)
            return fail(GYRE_UNSUPPORTED, "%s: no kernel of a CUDA device takes %s%s", name, name,
                        args.layout == GYRE_THD ? " thd" : "");
    return GYRE_OK;
}

/// What is only read on the device must be there.
gyre_status AttentionOnDevice::check_lists() const {
    for (const cuda::Named &t : tensors) {
        bool empty = false;
        for (int i = 0; i < std::clamp(t.tensor->rank, 0, GYRE_MAX_RANK); i++) empty = empty || t.tensor->shape[i] == 0;
        if (!empty && !t.tensor->data) return fail(GYRE_BAD_ARGUMENT, "%s: data is NULL", t.name);
    }
    return GYRE_OK;
}

gyre_status AttentionOnDevice::check(bool need_data) {
    GYRE_TRY(refuse_unsupported());
    GYRE_TRY(cuda::adopt_tensors(tensors, &device));
    // Lists on the device cannot be read here: what may hold for them is checked without their values, the rest without them.
    gyre_attention_args without_lists = args;
    without_lists.seqused_k = without_lists.q_positions = without_lists.k_positions = nullptr;
    without_lists.rope = without_lists.value_rope = nullptr;
    without_lists.keys_rotated = without_lists.values_rotated = 0;
    if (need_data) {
        AttentionCall other;
        GYRE_TRY(check_attention(without_lists, true, &other));
        GYRE_TRY(check_lists());
    }
    GYRE_TRY(check_attention(args, false, &call));
    const double scale = std::abs(static_cast<double>(call.scale));
    if (scale < least_scale || scale > most_scale)
        return fail(GYRE_UNSUPPORTED, "scale: got %g, on CUDA devices expected a magnitude in %g .. %g",
                    static_cast<double>(call.scale), least_scale, most_scale);
    for (const auto &[t, name] :
         {std::pair(&call.q, "q"), std::pair(&call.k, "k"), std::pair(&call.v, "v"), std::pair(&call.out, "out")})
        if (!in_reach(*t, 1)) return fail(GYRE_UNSUPPORTED, "%s: one batch entry reaches over 2^31 elements", name);
    return GYRE_OK;
}

const AttentionKernel *AttentionOnDevice::find_kernel(const gyre_context &context) const {
    const bool copyable = is_copyable(call.k) && is_copyable(call.v);
    for (size_t family = 0; family < dispatch_rules().count; family++) {
        const DispatchRule &rule = dispatch_rules().first[family];
        if (!rule.takes(call, false) || rule.partial || (rule.as_stored && !copyable)) continue;
        for (const AttentionKernel &k : attention_kernels(family))
            if (may_use_on_device(context, *k.kernel) && k.dtype == call.q.dtype && k.head_dim == call.q.dim &&
                k.head_dim == call.v.dim)
                return &k;
    }
    return nullptr;
}

gyre_status AttentionOnDevice::prepare(gyre_context &context) {
    GYRE_TRY(check_target_device(context, GYRE_CUDA, "q"));
    kernel = find_kernel(context);
    if (!kernel)
        return fail(GYRE_UNSUPPORTED, "q: no linked kernel of a CUDA device takes %s with head sizes %lld and %lld",
                    dtype_name(call.q.dtype), static_cast<long long>(call.q.dim), static_cast<long long>(call.v.dim));
    return GYRE_OK;
}

gyre_status AttentionOnDevice::run(gyre_context &context, char *) const {
    context.selected = kernel->kernel;
    if (device < 0 || call.empty()) return GYRE_OK;
    cuda::Scope scope;
    GYRE_TRY(scope.enter(device));
    cuda::DeviceAngles rope, value_rope;
    GYRE_TRY(rope.prepare(call.rope, "rope", context.frequencies[0]));
    GYRE_TRY(value_rope.prepare(call.value_rope, "value_rope", context.frequencies[1]));
    const Heads *all[] = {&call.q, &call.k, &call.v, &call.out};
    const bool whole =
        std::all_of(std::begin(all), std::end(all), [&](const Heads *t) { return in_reach(*t, t->batch); });
    const int64_t batches = whole ? call.q.batch : 1;
    for (int64_t first = 0; first < call.q.batch; first += batches) {
        const int axes = call.rope.on ? call.rope.axes : call.value_rope.axes;
        cuda::DevicePositions q_positions, k_positions;
        GYRE_TRY(q_positions.place(call.q_positions, "q_positions", first, 0, batches, call.q.seqlen, axes));
        GYRE_TRY(k_positions.place(call.k_positions, "k_positions", first, 0, batches, call.k.seqlen, axes));
        const auto view = [&](Buffer *b, const Heads &t) {
            b->describe(t.at(first, 0, 0), halide_type(t.dtype),
                        {{t.dim, 1}, {t.heads, t.head_stride}, {t.seqlen, t.token_stride}, {batches, t.batch_stride}});
        };
        Buffer q, k, v, out, lse, counts;
        view(&q, call.q), view(&k, call.k), view(&v, call.v), view(&out, call.out);
        if (call.lse.data)
            lse.describe(call.lse.at(first, 0, 0), halide_type(GYRE_F32),
                         {{call.q.seqlen, 1}, {call.q.heads, call.lse.head_stride}, {batches, call.lse.batch_stride}});
        else
            lse.describe(nullptr, halide_type(GYRE_F32), {{0, 1}, {0, 0}, {0, 0}});
        const bool has_counts = call.seqused_k != nullptr, bottom_right = call.alignment == GYRE_BOTTOM_RIGHT;
        counts.describe(has_counts ? call.seqused_k + first : nullptr, halide_type(GYRE_I32), {{batches, 1}});
        const bool rotate_keys = call.rotate_keys, rotate_values = call.rotate_values;
        const auto group = static_cast<int32_t>(call.q.heads / std::max<int64_t>(call.k.heads, 1));
        const auto bound = [](int64_t window) { return window < 0 ? unbounded : static_cast<int32_t>(window); };
        const int32_t left = bound(call.left), right = bound(call.right);
        const float scale = std::abs(call.scale) * 1.44269504088896f, sign = call.scale < 0 ? -1.0f : 1.0f;
        KernelArguments arguments;
        rope.add_to(&arguments), value_rope.add_to(&arguments);
        arguments.add(&rotate_keys, &rotate_values, &q_positions.view, &k_positions.view, &q_positions.given,
                      &k_positions.given, &counts, &has_counts, &bottom_right, &group, &left, &right, &scale, &sign, &q,
                      &k, &v, &out, &lse);
        GYRE_TRY(cuda::launch(context, scope, *kernel->kernel, arguments));
    }
    return GYRE_OK;
}

} // namespace gyre
