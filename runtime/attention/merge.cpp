// gyre_attention_merge(): checks, and merges a run of tokens and heads a task.
#include "arguments.h"
#include "attention/check.h"
#include "attention/merge_task.h"
#include "kernel_call.h"
#include "overlap.h"
#include "run_call.h"

#include <algorithm>

namespace gyre {
namespace {

struct MergeCall {
    gyre_attention_merge_args args;
    MergeTask task;

    int64_t token_runs() const { return ceil_div(task.merged.out.seqlen, task.kernel->most_tokens); }
    int64_t head_runs() const { return ceil_div(task.merged.out.heads, task.kernel->most_heads); }
    int64_t tasks() const { return task.merged.out.empty() ? 0 : task.merged.out.batch * token_runs() * head_runs(); }
    size_t slab_bytes() const { return round_up(task.scratch_bytes()); }
    size_t workspace_bytes(const gyre_context &context) const {
        return slab_bytes() * static_cast<size_t>(std::min<int64_t>(context.threads.size(), tasks()));
    }
    gyre_status prepare(const gyre_context &context);
    gyre_status run(gyre_context &context, char *memory) const;

private:
    bool run_task(int64_t index, char *scratch) const;
};

bool MergeCall::run_task(int64_t index, char *scratch) const {
    const MergeKernel &k = *task.kernel;
    const Heads &out = task.merged.out;
    const int64_t head = index % head_runs() * k.most_heads, token = index / head_runs() % token_runs() * k.most_tokens;
    return task.run({index / head_runs() / token_runs(), token, std::min(k.most_tokens, out.seqlen - token), head,
                     std::min(k.most_heads, out.heads - head)},
                    args.parts, scratch);
}

gyre_status check_part_stride(int64_t stride, const char *name) {
    if (stride < 0) return fail(GYRE_BAD_ARGUMENT, "%s: got %lld, expected >= 0", name, static_cast<long long>(stride));
    return GYRE_OK;
}

gyre_status check_overlap(const MergeCall &call) {
    const MergeTask &t = call.task;
    const Heads lse = t.merged.lse.as_heads(t.merged.out);
    const auto check = [&](Heads part, int64_t stride, const char *name) -> gyre_status {
        for (int p = 0; p < call.args.parts; p++) {
            for (const Heads *written : {&t.merged.out, &lse})
                if (written->data && !disjoint(part, *written))
                    return fail(GYRE_BAD_ARGUMENT, "%s: overlaps %s of part %d, expected other memory",
                                written == &lse ? "lse" : "out", name, p);
            part.data += stride * static_cast<int64_t>(element_size(part.dtype));
        }
        return GYRE_OK;
    };
    GYRE_TRY(check(t.parts.out, t.out_part_stride, "part_out"));
    GYRE_TRY(check(t.parts.lse.as_heads(t.parts.out), t.lse_part_stride, "part_lse"));
    if (lse.data && !disjoint(lse, t.merged.out))
        return fail(GYRE_BAD_ARGUMENT, "lse: overlaps out, expected other memory");
    return GYRE_OK;
}

gyre_status check(const gyre_attention_merge_args *given, bool need_data, MergeCall *call) {
    gyre_attention_merge_args &a = call->args;
    MergeTask &t = call->task;
    GYRE_TRY(adopt(given, "args", gyre_attention_merge_defaults(), sizeof a, &a));
    GYRE_TRY(check_layout(a.layout));
    if (a.parts < 0) return fail(GYRE_BAD_ARGUMENT, "parts: got %d, expected >= 0", a.parts);
    GYRE_TRY(check_part_stride(a.part_out_stride, "part_out_stride"));
    GYRE_TRY(check_part_stride(a.part_lse_stride, "part_lse_stride"));
    const bool need_parts = need_data && a.parts > 0;
    GYRE_TRY(view_heads(a.part_out, "part_out", a.layout, {GYRE_F32, GYRE_F16, GYRE_BF16}, need_parts, &t.parts.out));
    GYRE_TRY(view_lse(a.part_lse, "part_lse", a.layout, t.parts.out, need_parts, &t.parts.lse));
    GYRE_TRY(view_heads(a.out, "out", a.layout, {GYRE_F32, GYRE_F16, GYRE_BF16}, need_data, &t.merged.out));
    if (a.part_out.dtype != GYRE_F32 && a.out.dtype != a.part_out.dtype)
        return fail(GYRE_BAD_TYPE, "out: got %s, expected part_out's %s", dtype_name(a.out.dtype),
                    dtype_name(a.part_out.dtype));
    if (!std::equal(a.part_out.shape, a.part_out.shape + a.part_out.rank, a.out.shape))
        return fail(GYRE_BAD_SHAPE, "out: got shape %s, expected part_out's %s", shape_text(a.out.shape, a.out.rank),
                    shape_text(a.part_out.shape, a.part_out.rank));
    if (const int64_t dim = t.merged.out.dim; dim < 1 || dim > largest_head_dim)
        return fail(dim < 1 ? GYRE_BAD_SHAPE : GYRE_UNSUPPORTED, "part_out: got head size %lld, expected 1 .. %lld",
                    static_cast<long long>(dim), static_cast<long long>(largest_head_dim));
    if (a.lse) GYRE_TRY(view_lse(*a.lse, "lse", a.layout, t.merged.out, need_data, &t.merged.lse));
    t.out_part_stride = a.part_out_stride;
    t.lse_part_stride = a.part_lse_stride;
    if (!writable(t.merged.out)) return fail(GYRE_BAD_SHAPE, "out: strides make elements share memory");
    if (a.lse && !writable(t.merged.lse.as_heads(t.merged.out)))
        return fail(GYRE_BAD_SHAPE, "lse: strides make elements share memory");
    return need_data ? check_overlap(*call) : GYRE_OK;
}

} // namespace

gyre_status MergeCall::prepare(const gyre_context &context) {
    MergeTask &t = task;
    const Heads &part = t.parts.out, &out = t.merged.out;
    t.kernel = find_merge_kernel(context, part.dtype, out.dtype);
    if (!t.kernel)
        return fail(GYRE_UNSUPPORTED, "part_out: no linked kernel of %s merges %s into %s", context.best->name,
                    dtype_name(part.dtype), dtype_name(out.dtype));
    const auto fits = [&](const Heads &v, int64_t parts, int64_t part_stride) {
        return fits_kernel_index({{v.dim, 1},
                                  {std::min(v.heads, t.kernel->most_heads), v.head_stride},
                                  {std::min(v.seqlen, t.kernel->most_tokens), v.token_stride},
                                  {parts, part_stride}});
    };
    if (!fits(part, args.parts, t.out_part_stride) || !fits(out, 1, 0))
        return fail(GYRE_UNSUPPORTED, "%s: strides reach over 2^31 elements within %lld tokens of %lld heads",
                    fits(out, 1, 0) ? "part_out" : "out", static_cast<long long>(t.kernel->most_tokens),
                    static_cast<long long>(t.kernel->most_heads));
    if (!fits_kernel_index({{t.kernel->most_heads, t.parts.lse.head_stride}, {args.parts, t.lse_part_stride}}))
        return fail(GYRE_UNSUPPORTED, "part_lse: strides reach over 2^31 elements");
    return GYRE_OK;
}

gyre_status MergeCall::run(gyre_context &context, char *memory) const {
    const bool ok = context.threads.run_all(tasks(), [&](int64_t index, int worker) {
        return run_task(index, memory + static_cast<size_t>(worker) * slab_bytes());
    });
    return finish_call(context, *task.kernel->kernel, ok);
}

} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_attention_merge(gyre_context *context, const gyre_attention_merge_args *args) {
    MergeCall call;
    GYRE_TRY(check(args, true, &call));
    return run_call(context, call.args, call);
}

extern "C" gyre_status gyre_attention_merge_workspace_size(gyre_context *context, const gyre_attention_merge_args *args,
                                                           size_t *bytes) {
    GYRE_TRY(check_size_output(bytes));
    MergeCall call;
    GYRE_TRY(check(args, false, &call));
    return tell_workspace_size(context, call, bytes);
}
