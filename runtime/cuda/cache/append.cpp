#include "cuda/cache/append.h"

#include "cuda/rows/slots.h"

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
    SlotLists lists;
    lists.bounds = call.cu_seqlens;
    lists.held = call.cache_seqlens;
    lists.sequences = call.sequences;
    lists.table = call.pages.entries;
    lists.table_pages = call.paged ? call.capacity >> call.pages.bits : 1;
    lists.table_stride = call.pages.stride;
    lists.page_bits = call.pages.bits;
    lists.paged = call.paged;
    lists.capacity = call.capacity;
    return write_slots(context, scope, *t.rotate.kernel, t.rotation, &angles, lists,
                       {from, to, from.batch, from.seqlen});
}

} // namespace gyre::cuda
