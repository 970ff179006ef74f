#include "cuda/append.h"

#include <algorithm>

namespace gyre {
bool AppendOnDevice::place(const gyre_cache_append_args &given) {
    args = given;
    tensors = {{&args.k, "k"}, {&args.v, "v"}, {&args.k_cache, "k_cache"}, {&args.v_cache, "v_cache"}};
    int count = 0;
    const auto add = [&](const gyre_tensor *&t, const char *name) {
        if (!t) return;
        copies[count] = *t;
        t = &copies[count];
        tensors.push_back({&copies[count++], name});
    };
    add(args.cu_seqlens_k, "cu_seqlens_k"), add(args.cache_seqlens, "cache_seqlens");
    add(args.page_table, "page_table"), add(args.positions, "positions");
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

gyre_status AppendOnDevice::check(bool need_data) {
    if (args.value_order != GYRE_VALUES_IN_ROWS)
        return fail(GYRE_UNSUPPORTED, "value_order: no kernel of a CUDA device takes value_order");
    GYRE_TRY(cuda::adopt_tensors(tensors, &device));
    GYRE_TRY(check_append(args, need_data, &call, false));
    if (need_data) GYRE_TRY(cuda::check_data(tensors));
    for (const Appended *t : {&call.k, &call.v})
        for (const Heads *x : {&t->from, &t->to})
            if (!cuda::in_reach(*x, x->batch))
                return fail(GYRE_UNSUPPORTED, "%s: reaches over 2^31 elements",
                            x == &t->from ? t->name : t->cache_name);
    if (call.capacity > INT32_MAX)
        return fail(GYRE_UNSUPPORTED, "page_table: has room for %lld keys, expected at most %d",
                    static_cast<long long>(call.capacity), INT32_MAX);
    return GYRE_OK;
}

gyre_status AppendOnDevice::prepare(gyre_context &context) {
    GYRE_TRY(check_target_device(context, GYRE_CUDA, "k"));
    for (Appended *t : {&call.k, &call.v}) {
        const Rotation &r = t->rotation;
        const RotaryKernel *kernel = nullptr;
        for (const gyre_pairing pairing : {r.pairing, GYRE_HALF, GYRE_INTERLEAVED})
            if (!kernel && (!r.on || pairing == r.pairing))
                kernel = find_rotary_kernel(context, t->from.dtype, t->to.dtype, pairing, GYRE_CUDA, true);
        if (!kernel)
            return fail(GYRE_UNSUPPORTED, "%s: no linked kernel writes %s as %s on a CUDA device", t->name,
                        dtype_name(t->from.dtype), dtype_name(t->to.dtype));
        t->rotate = {kernel, r.offset, r.pairs, 1, false};
    }
    return GYRE_OK;
}

gyre_status AppendOnDevice::run(gyre_context &context) const {
    context.selected = call.k.rotate.kernel->kernel;
    if (device < 0) return GYRE_OK;
    cuda::Scope scope;
    GYRE_TRY(scope.enter(device));
    GYRE_TRY(append(context, scope, call.v, context.frequencies[1]));
    return append(context, scope, call.k, context.frequencies[0]);
}

gyre_status AppendOnDevice::append(gyre_context &context, const cuda::Scope &scope, const Appended &t,
                                   gyre_context::Frequencies &cache) const {
    const Heads &from = t.from, &to = t.to;
    if (from.empty() || to.empty()) return GYRE_OK;
    cuda::TokenAngles angles;
    GYRE_TRY(angles.prepare(t.rotation, &t == &call.k ? "rope" : "value_rope", cache));
    GYRE_TRY(angles.place(call.positions, &t == &call.k ? "rope" : "value_rope", 0, 0, from.batch, from.seqlen));
    const auto dim = static_cast<int32_t>(from.dim);
    const int32_t offset = t.rotate.offset, pairs = t.rotate.pairs, end = offset + 2 * pairs, after = dim - end;
    const float direction = 1;
    const bool packed = call.cu_seqlens, has_held = call.cache_seqlens, paged = call.paged;
    const auto sequences = static_cast<int32_t>(call.sequences), capacity = static_cast<int32_t>(call.capacity);
    const auto entries = static_cast<int32_t>(to.batch), entry_stride = static_cast<int32_t>(to.batch_stride);
    const int32_t page_bits = call.pages.bits;
    const halide_type_t i32 = halide_type(GYRE_I32);
    Buffer bounds(call.cu_seqlens, i32, {{sequences + 1, 1}}), held(call.cache_seqlens, i32, {{sequences, 1}});
    Buffer table(call.pages.entries, i32,
                 {{paged ? call.capacity >> page_bits : 1, 1}, {sequences, call.pages.stride}});
    Buffer x(
        from.data, halide_type(from.dtype),
        {{dim, 1}, {from.heads, from.head_stride}, {from.seqlen, from.token_stride}, {from.batch, from.batch_stride}});
    Buffer out(to.data, halide_type(to.dtype),
               {{dim, 1}, {to.heads, to.head_stride}, {from.seqlen, to.token_stride}, {from.batch, 0}});
    KernelArguments arguments;
    angles.add_to(&arguments);
    arguments.add(&offset, &pairs, &direction, &offset, &end, &after, &bounds, &held, &table, &packed, &has_held,
                  &paged, &sequences, &page_bits, &capacity, &entries, &entry_stride, &x, &out);
    return cuda::launch(context, scope, *t.rotate.kernel->kernel, arguments);
}

} // namespace gyre
