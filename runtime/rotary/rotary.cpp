// gyre_rotary(): checks, cuts the tokens into runs, and rotates each run's heads with one row of angles a token.
#include "arguments.h"
#include "kernel_call.h"
#include "overlap.h"
#include "rotary/rotation.h"
#include "tensor.h"

#include <algorithm>
#include <atomic>
#include <vector>

namespace gyre {
namespace {

/// Tokens whose angles are formed at once: their rows stay in the L1 cache while every head reads them.
constexpr int64_t run_tokens = 32;

struct RotaryKernel {
    const Kernel *kernel;
    gyre_dtype dtype;
    gyre_pairing pairing;
    size_t workspace; // bytes
};

/// A checked call.
struct RotaryCall {
    Heads x, out;
    Rotation rotation;
    Positions positions;
    Angles angles;
    const RotaryKernel *kernel = nullptr;
    float direction = 1;
    bool in_place = false;
    size_t slab_bytes = 0;

    int64_t runs() const { return (x.seqlen + run_tokens - 1) / run_tokens; }
    int64_t tasks() const { return x.empty() ? 0 : x.batch * runs(); }
};

gyre_status check(const gyre_rotary_args *given, bool need_data, gyre_rotary_args *args, RotaryCall *call) {
    gyre_rotary_args &a = *args;
    GYRE_TRY(adopt(given, "args", gyre_rotary_defaults(), sizeof a, &a));
    if (a.layout < GYRE_BSHD || a.layout > GYRE_THD)
        return fail(GYRE_BAD_ARGUMENT, "layout: got %d, expected GYRE_BSHD, GYRE_BHSD or GYRE_THD",
                    static_cast<int>(a.layout));
    GYRE_TRY(view_heads(a.x, "x", a.layout, {GYRE_F32, GYRE_F16, GYRE_BF16}, need_data, &call->x));
    GYRE_TRY(view_heads(a.out, "out", a.layout, {a.x.dtype}, need_data, &call->out));
    if (!std::equal(a.x.shape, a.x.shape + a.x.rank, a.out.shape))
        return fail(GYRE_BAD_SHAPE, "out: got shape %s, expected x's %s", shape_text(a.out.shape, a.out.rank),
                    shape_text(a.x.shape, a.x.rank));
    const Heads &x = call->x;
    GYRE_TRY(check_rope(&a.rope, "rope", x.dim, x.batch, x.seqlen, need_data, &call->rotation));
    if (a.position_offset < 0)
        return fail(GYRE_BAD_ARGUMENT, "position_offset: got %lld, expected >= 0",
                    static_cast<long long>(a.position_offset));
    if (a.positions && a.position_offset)
        return fail(GYRE_BAD_ARGUMENT, "position_offset: got %lld beside positions, expected 0",
                    static_cast<long long>(a.position_offset));
    if (!call->rotation.per_token)
        GYRE_TRY(check_positions(a.positions, a.positions ? "positions" : "position_offset", call->rotation.axes,
                                 x.batch, x.seqlen, a.position_offset, call->rotation.position_limit(), need_data,
                                 &call->positions));
    if (!writable(call->out)) return fail(GYRE_BAD_SHAPE, "out: strides make elements share memory");
    call->in_place = x.data == call->out.data;
    if (need_data && !same_or_disjoint(x, call->out))
        return fail(GYRE_BAD_ARGUMENT, "out: overlaps x without being x, expected the same view or other memory");
    call->direction = a.reverse ? -1.0f : 1.0f;
    for (const Heads *view : {&call->x, &call->out})
        if (!fits_kernel_index({{view->heads, view->head_stride},
                                {std::min(run_tokens, view->seqlen), view->token_stride},
                                {view->dim, 1}}))
            return fail(GYRE_UNSUPPORTED, "%s: strides reach over 2^31 elements within %lld tokens",
                        view == &call->x ? "x" : "out", static_cast<long long>(run_tokens));
    return GYRE_OK;
}

const RotaryKernel *find_kernel(const gyre_context &context, gyre_dtype dtype, gyre_pairing pairing) {
    static KernelTable<RotaryKernel> kernels("rotary", [](const Kernel &k) {
        return RotaryKernel{&k, kernel_dtype(k), attribute(k, "pairing") == "half" ? GYRE_HALF : GYRE_INTERLEAVED,
                            static_cast<size_t>(attribute(k, "workspace", 0))};
    });
    for (const RotaryKernel &k : kernels.rows())
        if (k.dtype == dtype && k.pairing == pairing && may_use(context, *k.kernel)) return &k;
    return nullptr;
}

gyre_status prepare(gyre_context &context, RotaryCall *call) {
    call->kernel = find_kernel(context, call->x.dtype, call->rotation.pairing);
    if (!call->kernel)
        return fail(GYRE_UNSUPPORTED, "x: no linked kernel rotates %s on %s", dtype_name(call->x.dtype),
                    context.best->name);
    GYRE_TRY(call->angles.prepare(context, call->rotation, context.frequencies[0]));
    call->slab_bytes = round_up(run_tokens * Angles::row_floats(call->rotation) * sizeof(float)) +
                       std::max(call->angles.scratch_bytes(run_tokens), call->kernel->workspace);
    return GYRE_OK;
}

size_t workspace_bytes(const gyre_context &context, const RotaryCall &call) {
    return call.slab_bytes * static_cast<size_t>(std::min<int64_t>(context.threads.size(), call.tasks()));
}

/// Rotates every head of one run of tokens. `memory` is the thread's slab.
bool rotate_run(const RotaryCall &c, int64_t task, char *memory) {
    const int64_t batch = task / c.runs(), first = task % c.runs() * run_tokens;
    const int64_t tokens = std::min(run_tokens, c.x.seqlen - first),
                  row = static_cast<int64_t>(Angles::row_floats(c.rotation));
    auto *rows = reinterpret_cast<float *>(memory);
    char *scratch = memory + round_up(run_tokens * static_cast<size_t>(row) * sizeof(float));
    if (!c.angles.fill(c.positions, batch, first, tokens, rows, scratch)) return false;

    // The kernel walks the denser of tokens and heads first; the angles of a token are the same for all its heads.
    const bool heads_first = std::abs(c.x.head_stride) <= std::abs(c.x.token_stride);
    const auto view = [&](const void *data, halide_type_t type, int64_t extent, int64_t token_stride,
                          int64_t head_stride) {
        const Buffer::Dimension t{tokens, token_stride}, h{c.x.heads, head_stride};
        return Buffer(data, type, {{extent, 1}, heads_first ? h : t, heads_first ? t : h});
    };
    const halide_type_t type = halide_type(c.x.dtype), f32 = halide_type(GYRE_F32);
    const int32_t offset = c.rotation.offset, pairs = c.rotation.pairs, end = offset + 2 * pairs;
    const int32_t before = c.in_place ? 0 : offset, after = c.in_place ? 0 : static_cast<int32_t>(c.x.dim) - end;
    Slab slab(scratch, c.kernel->workspace);
    Buffer cos = view(rows, f32, pairs, row, 0), sin = view(rows + pairs, f32, pairs, row, 0);
    Buffer x = view(c.x.at(batch, first, 0), type, c.x.dim, c.x.token_stride, c.x.head_stride);
    Buffer out = view(c.out.at(batch, first, 0), type, c.x.dim, c.out.token_stride, c.out.head_stride);
    return call_kernel(*c.kernel->kernel, slab, &cos, &sin, &offset, &pairs, &c.direction, &before, &end, &after, &x,
                       &out);
}

} // namespace
} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_rotary(gyre_context *given, const gyre_rotary_args *given_args) {
    gyre_rotary_args args;
    RotaryCall call;
    GYRE_TRY(check(given_args, true, &args, &call));
    gyre_context *context;
    GYRE_TRY(resolve_context(given, &context));
    const std::lock_guard<std::mutex> lock(context->busy);
    GYRE_TRY(prepare(*context, &call));
    char *memory;
    GYRE_TRY(acquire_workspace(args.workspace, args.workspace_size, workspace_bytes(*context, call), context->arena,
                               &memory));
    std::atomic<bool> failed{false};
    context->threads.run(call.tasks(), [&](int64_t task, int worker) {
        if (!rotate_run(call, task, memory + static_cast<size_t>(worker) * call.slab_bytes)) failed = true;
    });
    if (failed) return fail(GYRE_INTERNAL, "%s: the kernel failed", call.kernel->kernel->name);
    context->selected = call.kernel->kernel;
    return GYRE_OK;
}

extern "C" gyre_status gyre_rotary_workspace_size(gyre_context *given, const gyre_rotary_args *given_args,
                                                  size_t *bytes) {
    if (!bytes) return fail(GYRE_BAD_ARGUMENT, "bytes: got NULL, expected where to store the size");
    gyre_rotary_args args;
    RotaryCall call;
    GYRE_TRY(check(given_args, false, &args, &call));
    gyre_context *context;
    GYRE_TRY(resolve_context(given, &context));
    const std::lock_guard<std::mutex> lock(context->busy);
    GYRE_TRY(prepare(*context, &call));
    *bytes = workspace_bytes(*context, call) + workspace_slack;
    return GYRE_OK;
}
