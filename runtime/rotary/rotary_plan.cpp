#include "rotary/rotary_plan.h"

#include "core/run_call.h"

#include <algorithm>

namespace gyre {

gyre_status RotaryPlan::prepare(gyre_context &context) {
    const Heads &x = call.tensors[0].from;
    GYRE_TRY(check_target_device(context, GYRE_CPU, call.tensors[0].from_name));
    const Rotation &rotation = call.rotation;
    kernel = find_rotary_kernel(context, x.dtype, x.dtype, rotation.pairing);
    if (!kernel)
        return refuse(GYRE_UNSUPPORTED, call.tensors[0].from_name, "no linked kernel rotates %s on %s",
                      dtype_name(x.dtype), context.best->name);
    GYRE_TRY(angles.prepare(context, rotation, context.frequencies[0]));
    streaming = find_streaming_kernel(context, x.dtype, rotation.pairing);
    slab_bytes = round_up(run_tokens * Angles::row_floats(rotation) * sizeof(float)) +
                 std::max({angles.scratch_bytes(run_tokens), kernel->workspace, streaming ? streaming->workspace : 0});
    return GYRE_OK;
}

const RotaryKernel &RotaryPlan::kernel_for(const RotatedTensor &t) const {
    return streaming && pays_to_stream(*streaming, t.from, t.to, call.rotation) ? *streaming : *kernel;
}

int64_t RotaryPlan::runs() const { return ceil_div(call.tensors[0].from.seqlen, run_tokens); }

int64_t RotaryPlan::tasks() const {
    bool any = false;
    for (int i = 0; i < call.count; i++) any = any || !call.tensors[i].from.empty();
    return any ? call.tensors[0].from.batch * runs() : 0;
}

size_t RotaryPlan::workspace_bytes(const gyre_context &context) const {
    return bytes_of_slabs(slab_bytes, context.threads.size(), tasks());
}

gyre_status RotaryPlan::run(gyre_context &context, char *memory) const {
    const bool ok = context.threads.run_all(tasks(), [&](int64_t task, int worker) {
        return rotate_run(task, memory + static_cast<size_t>(worker) * slab_bytes);
    });
    return finish_call(context, *kernel_for(call.tensors[0]).kernel, ok);
}

/// Rotates every head of one run of tokens. `memory` is the thread's slab.
bool RotaryPlan::rotate_run(int64_t task, char *memory) const {
    const Rotation &rotation = call.rotation;
    const int64_t batch = task / runs();
    const int64_t first = task % runs() * run_tokens;
    const int64_t tokens = std::min(run_tokens, call.tensors[0].from.seqlen - first);
    auto *rows = reinterpret_cast<float *>(memory);
    char *scratch = memory + round_up(run_tokens * Angles::row_floats(rotation) * sizeof(float));
    if (!angles.fill(call.positions, batch, first, tokens, rows, scratch)) return false;
    HeadRotation rotate{kernel, rotation.offset, rotation.pairs, call.direction, false};
    bool ok = true;
    for (int i = 0; i < call.count; i++) {
        const Heads &from = call.tensors[i].from;
        const Heads &to = call.tensors[i].to;
        if (from.empty()) continue;
        rotate.kernel = &kernel_for(call.tensors[i]);
        rotate.in_place = call.tensors[i].in_place;
        ok = rotate.run({from, batch, first}, {to, batch, first}, tokens, from.heads, from.dim, rows, scratch) && ok;
    }
    return ok;
}

} // namespace gyre
