#include "cuda/append.h"

#include <algorithm>

namespace gyre::cuda {

gyre_status AppendOnDevice::check(bool need_data) {
    if (args.value_order != GYRE_VALUES_IN_ROWS)
        return refuse(GYRE_UNSUPPORTED, "value_order", "no kernel of a CUDA device takes value_order");
    GYRE_TRY(adopt_tensors(tensors, &device));
    GYRE_TRY(check_append(args, need_data, &call, false));
    if (need_data) GYRE_TRY(check_data(tensors));
    for (const Appended *t : {&call.k, &call.v})
        for (const Heads *x : {&t->from, &t->to})
            if (!in_reach(*x, x->batch))
                return refuse(GYRE_UNSUPPORTED, x == &t->from ? t->name : t->cache_name, "reaches over 2^31 elements");
    if (call.capacity > INT32_MAX)
        return refuse(GYRE_UNSUPPORTED, "page_table", "has room for %lld keys, expected at most %d",
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
            return refuse(GYRE_UNSUPPORTED, t->name, "no linked kernel writes %s as %s on a CUDA device",
                          dtype_name(t->from.dtype), dtype_name(t->to.dtype));
        t->rotate = {kernel, r.offset, r.pairs, 1, false};
    }
    return GYRE_OK;
}

gyre_status AppendOnDevice::run(gyre_context &context) {
    context.select(*call.k.rotate.kernel->kernel);
    if (device < 0) return GYRE_OK;
    Scope scope;
    GYRE_TRY(scope.enter(device, stream_of(context)));
    GYRE_TRY(append(context, scope, call.v, context.frequencies[1]));
    return append(context, scope, call.k, context.frequencies[0]);
}

gyre_status AppendOnDevice::append(gyre_context &context, const Scope &scope, const Appended &t,
                                   gyre_context::Frequencies &cache) const {
    const Heads &from = t.from, &to = t.to;
    if (from.empty() || to.empty()) return GYRE_OK;
    TokenAngles angles;
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
    using A = RotaryCudaArguments;
    KernelArguments<A> arguments(t.rotate.kernel->places_on_device);
    angles.add_to(&arguments);
    arguments[A::offset] = &offset;
    arguments[A::pairs] = &pairs;
    arguments[A::direction] = &direction;
    arguments[A::copied_before] = &offset;
    arguments[A::after] = &end;
    arguments[A::copied_after] = &after;
    arguments[A::bounds] = &bounds;
    arguments[A::held] = &held;
    arguments[A::page_table] = &table;
    arguments[A::packed] = &packed;
    arguments[A::has_held] = &has_held;
    arguments[A::paged] = &paged;
    arguments[A::sequences] = &sequences;
    arguments[A::page_bits] = &page_bits;
    arguments[A::capacity] = &capacity;
    arguments[A::entries] = &entries;
    arguments[A::entry_stride] = &entry_stride;
    arguments[A::x] = &x;
    arguments[A::out] = &out;
    return cuda::launch(context, scope, *t.rotate.kernel->kernel, arguments);
}

} // namespace gyre::cuda
