// gyre_attention_merge(): merges a run of tokens and heads a task.
#include "attention/call/tensors.h"
#include "attention/merge/check.h"
#include "core/arguments.h"
#include "core/kernel_call.h"
#include "core/run_call.h"
#include "core/saturated.h"

#include <algorithm>

namespace gyre {
namespace {

struct MergeOnCpu {
    using Arguments = gyre_attention_merge_args;
    static constexpr bool on_devices = true;
    Arguments args;
    MergeTask task;

    static gyre_status take(const Arguments *given, Arguments *args) {
        return adopt(given, "args", gyre_attention_merge_defaults(), sizeof *args, args);
    }
    gyre_status check(bool need_data) { return check_merge(args, need_data, &task); }

    int64_t token_runs() const { return ceil_div(task.merged.out.seqlen, task.kernel->most_tokens); }
    int64_t head_runs() const { return ceil_div(task.merged.out.heads, task.kernel->most_heads); }
    int64_t tasks() const { return task.merged.out.empty() ? 0 : task.merged.out.batch * token_runs() * head_runs(); }
    size_t slab_bytes() const { return round_up(task.scratch_bytes()); }
    size_t workspace_bytes(const gyre_context &context) const {
        return bytes_of_slabs(slab_bytes(), context.threads.size(), tasks());
    }
    gyre_status prepare(const gyre_context &context);
    void visit_tensors(WorkspaceApart &visit) {
        visit(args.out, "out");
        visit(args.lse, "lse");
        visit.check(args.part_out, "part_out", args.parts, args.part_out_stride);
        visit.check(args.part_lse, "part_lse", args.parts, args.part_lse_stride);
    }
    gyre_status run(gyre_context &context, char *memory) const;

private:
    bool run_task(int64_t index, char *scratch) const;
};

bool MergeOnCpu::run_task(int64_t index, char *scratch) const {
    const MergeKernel &k = *task.kernel;
    const Heads &out = task.merged.out;
    const int64_t head = index % head_runs() * k.most_heads, token = index / head_runs() % token_runs() * k.most_tokens;
    return task.run({index / head_runs() / token_runs(), token, std::min(k.most_tokens, out.seqlen - token), head,
                     std::min(k.most_heads, out.heads - head)},
                    args.parts, scratch);
}

} // namespace

gyre_status MergeOnCpu::prepare(const gyre_context &context) {
    MergeTask &t = task;
    const Heads &part = t.parts.out, &out = t.merged.out;
    t.kernel = find_merge_kernel(context, part.dtype, out.dtype);
    if (!t.kernel)
        return refuse(GYRE_UNSUPPORTED, "part_out", "no linked kernel of %s merges %s into %s", context.best->name,
                      dtype_name(part.dtype), dtype_name(out.dtype));
    const auto fits = [&](const Heads &v, int64_t parts, int64_t part_stride) {
        return fits_kernel_index({{v.dim, 1},
                                  {std::min(v.heads, t.kernel->most_heads), v.head_stride},
                                  {std::min(v.seqlen, t.kernel->most_tokens), v.token_stride},
                                  {parts, part_stride}});
    };
    if (!fits(part, args.parts, t.out_part_stride) || !fits(out, 1, 0))
        return refuse(GYRE_UNSUPPORTED, fits(out, 1, 0) ? "part_out" : "out",
                      "strides reach over 2^31 elements within %lld tokens of %lld heads",
                      static_cast<long long>(t.kernel->most_tokens), static_cast<long long>(t.kernel->most_heads));
    const auto lse_fits = [&](const Lse &lse, int64_t parts, int64_t part_stride) {
        return fits_kernel_index({{std::min(out.seqlen, t.kernel->most_tokens), 1},
                                  {std::min(out.heads, t.kernel->most_heads), lse.head_stride},
                                  {parts, part_stride}});
    };
    if (!lse_fits(t.merged.lse, 1, 0)) return refuse(GYRE_UNSUPPORTED, "lse", "strides reach over 2^31 elements");
    if (!lse_fits(t.parts.lse, args.parts, t.lse_part_stride))
        return refuse(GYRE_UNSUPPORTED, "part_lse", "strides reach over 2^31 elements");
    return GYRE_OK;
}

gyre_status MergeOnCpu::run(gyre_context &context, char *memory) const {
    const bool ok = context.threads.run_all(tasks(), [&](int64_t index, int worker) {
        return run_task(index, memory + static_cast<size_t>(worker) * slab_bytes());
    });
    return finish_call(context, *task.kernel->kernel, ok);
}

} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_attention_merge(gyre_context *context, const gyre_attention_merge_args *args) {
    return run_operation<MergeOnCpu>(context, args);
}

extern "C" gyre_status gyre_attention_merge_workspace_size(gyre_context *context, const gyre_attention_merge_args *args,
                                                           size_t *bytes) {
    return tell_operation_size<MergeOnCpu>(context, args, bytes);
}
