#include "rotary/rotary_call.h"

#include "core/overlap.h"
#include "core/run_call.h"

#include <algorithm>
#include <array>

namespace gyre {

gyre_status RotaryCall::place(std::initializer_list<cuda::Named> written, gyre_rope *rope,
                              const gyre_tensor **positions) {
    std::array<cuda::Named, 7> all;
    size_t count = 0;
    for (const cuda::Named &t : written) all[count++] = t;
    const auto adopt = [&](const gyre_tensor **given, gyre_tensor *copy, const char *name) {
        if (!*given) return;
        *copy = **given;
        *given = copy;
        all[count++] = {copy, name};
    };
    adopt(positions, &only_read[0], "positions");
    if (rope->size == sizeof *rope) { // else it is refused
        adopt(&rope->cos, &only_read[1], "rope.cos");
        adopt(&rope->sin, &only_read[2], "rope.sin");
    }
    const cuda::NamedList list{all.data(), count};
    on_device = cuda::any_on_device(list);
    return on_device ? cuda::adopt_tensors(list, &device) : GYRE_OK;
}

gyre_status RotaryCall::add(const gyre_tensor &from, const char *from_name, const gyre_tensor &to, const char *to_name,
                            gyre_layout layout, bool need_data) {
    GYRE_TRY(check_layout(layout));
    RotatedTensor t;
    t.from_name = from_name;
    t.to_name = to_name;
    if (count == 0)
        GYRE_TRY(view_heads(from, from_name, layout, {GYRE_F32, GYRE_F16, GYRE_BF16}, need_data, &t.from));
    else
        GYRE_TRY(view_heads(from, from_name, layout, {tensors[0].from.dtype}, need_data, &t.from));
    GYRE_TRY(view_heads(to, to_name, layout, {from.dtype}, need_data, &t.to));
    if (!std::equal(from.shape, from.shape + from.rank, to.shape))
        return refuse(GYRE_BAD_SHAPE, to_name, "got shape %s, expected %s's %s", shape_text(to.shape, to.rank),
                      from_name, shape_text(from.shape, from.rank));
    const Heads &x = t.from;
    const Heads &first = tensors[0].from;
    if (count > 0 && (x.batch != first.batch || x.seqlen != first.seqlen || x.dim != first.dim))
        return refuse(GYRE_BAD_SHAPE, from_name, "got shape %s, expected %s's but for the number of heads",
                      shape_text(from.shape, from.rank), tensors[0].from_name);
    if (!writable(t.to)) return refuse(GYRE_BAD_SHAPE, to_name, "strides make elements share memory");
    t.in_place = x.data == t.to.data;
    if (need_data && !same_or_disjoint(x, t.to))
        return refuse(GYRE_BAD_ARGUMENT, to_name,
                      "overlaps %s without being %s, expected the same view or other memory", from_name, from_name);
    for (const Heads *view : {&t.from, &t.to})
        if (!fits_run(*view, view->seqlen))
            return refuse(GYRE_UNSUPPORTED, view == &t.from ? from_name : to_name,
                          "strides reach over 2^31 elements within %lld tokens", static_cast<long long>(run_tokens));
    for (int i = 0; need_data && i < count; i++) {
        const RotatedTensor &other = tensors[i];
        for (const auto &[written, name] : {std::pair(&t.to, to_name), std::pair(&t.from, from_name)})
            if (!disjoint(*written, other.to))
                return refuse(GYRE_BAD_ARGUMENT, name, "overlaps %s, expected other memory", other.to_name);
        if (!disjoint(t.to, other.from))
            return refuse(GYRE_BAD_ARGUMENT, to_name, "overlaps %s, expected other memory", other.from_name);
    }
    tensors[count++] = t;
    return GYRE_OK;
}

/// What the checks below leave out for memory that cannot be read here.
gyre_status RotaryCall::check_device_data(const RotaryOptions &o) const {
    const bool any = !tensors[0].from.empty();
    if (any && o.positions && !o.positions->data)
        return refuse(GYRE_BAD_ARGUMENT, "positions", "data is NULL, expected %s",
                      shape_text(o.positions->shape, std::clamp(o.positions->rank, 0, GYRE_MAX_RANK)));
    return GYRE_OK;
}

gyre_status RotaryCall::check(const RotaryOptions &o, bool need_data) {
    const Heads &x = tensors[0].from;
    GYRE_TRY(check_flag(o.reverse, "reverse"));
    GYRE_TRY(check_rope(&o.rope, "rope", x.dim, x.batch, x.seqlen, need_data, &rotation));
    // A device's positions cannot be read here: its kernels read nothing by them but tables, within these.
    const bool readable = need_data && !on_device;
    if (o.position_offset < 0)
        return refuse(GYRE_BAD_ARGUMENT, "position_offset", "got %lld, expected >= 0",
                      static_cast<long long>(o.position_offset));
    if (o.positions && o.position_offset)
        return refuse(GYRE_BAD_ARGUMENT, "position_offset", "got %lld beside positions, expected 0",
                      static_cast<long long>(o.position_offset));
    direction = o.reverse ? -1.0f : 1.0f;
    if (on_device && need_data) GYRE_TRY(check_device_data(o));
    if (rotation.per_token) return GYRE_OK;
    return check_positions(o.positions, o.positions ? "positions" : "position_offset", rotation.axes, x.batch, x.seqlen,
                           o.position_offset, rotation.position_limit(), readable, &positions);
}

gyre_status RotaryCall::prepare(gyre_context &context) {
    const Heads &x = tensors[0].from;
    GYRE_TRY(check_target_device(context, on_device ? GYRE_CUDA : GYRE_CPU, tensors[0].from_name));
    if (on_device) return prepare_on_device(context);
    kernel = find_rotary_kernel(context, x.dtype, x.dtype, rotation.pairing);
    if (!kernel)
        return refuse(GYRE_UNSUPPORTED, tensors[0].from_name, "no linked kernel rotates %s on %s", dtype_name(x.dtype),
                      context.best->name);
    GYRE_TRY(angles.prepare(context, rotation, context.frequencies[0]));
    streaming = find_streaming_kernel(context, x.dtype, rotation.pairing);
    slab_bytes = round_up(run_tokens * Angles::row_floats(rotation) * sizeof(float)) +
                 std::max({angles.scratch_bytes(run_tokens), kernel->workspace, streaming ? streaming->workspace : 0});
    return GYRE_OK;
}

const RotaryKernel &RotaryCall::kernel_for(const RotatedTensor &t) const {
    return streaming && pays_to_stream(*streaming, t.from, t.to, rotation) ? *streaming : *kernel;
}

int64_t RotaryCall::runs() const { return ceil_div(tensors[0].from.seqlen, run_tokens); }

int64_t RotaryCall::tasks() const {
    bool any = false;
    for (int i = 0; i < count; i++) any = any || !tensors[i].from.empty();
    return any ? tensors[0].from.batch * runs() : 0;
}

size_t RotaryCall::workspace_bytes(const gyre_context &context) const {
    if (on_device) return 0;
    return bytes_of_slabs(slab_bytes, context.threads.size(), tasks());
}

gyre_status RotaryCall::run(gyre_context &context, char *memory) const {
    if (on_device) return run_on_device(context);
    const bool ok = context.threads.run_all(tasks(), [&](int64_t task, int worker) {
        return rotate_run(task, memory + static_cast<size_t>(worker) * slab_bytes);
    });
    return finish_call(context, *kernel_for(tensors[0]).kernel, ok);
}

/// Rotates every head of one run of tokens. `memory` is the thread's slab.
bool RotaryCall::rotate_run(int64_t task, char *memory) const {
    const int64_t batch = task / runs();
    const int64_t first = task % runs() * run_tokens;
    const int64_t tokens = std::min(run_tokens, tensors[0].from.seqlen - first);
    auto *rows = reinterpret_cast<float *>(memory);
    char *scratch = memory + round_up(run_tokens * Angles::row_floats(rotation) * sizeof(float));
    if (!angles.fill(positions, batch, first, tokens, rows, scratch)) return false;
    HeadRotation rotate{kernel, rotation.offset, rotation.pairs, direction, false};
    bool ok = true;
    for (int i = 0; i < count; i++) {
        const Heads &from = tensors[i].from;
        const Heads &to = tensors[i].to;
        if (from.empty()) continue;
        rotate.kernel = &kernel_for(tensors[i]);
        rotate.in_place = tensors[i].in_place;
        ok = rotate.run({from, batch, first}, {to, batch, first}, tokens, from.heads, from.dim, rows, scratch) && ok;
    }
    return ok;
}

} // namespace gyre
