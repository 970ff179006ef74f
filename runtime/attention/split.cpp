#include "attention/split.h"

#include "attention/dispatch.h"

#include <algorithm>

namespace gyre {

bool has_few_queries(const AttentionCall &c, bool need_data) {
    if (!c.has_cu_seqlens_q) return c.q.seqlen <= most_few_queries;
    if (!need_data) return c.q.seqlen <= most_few_queries * c.sequences;
    for (int64_t i = 0; i < c.sequences; i++)
        if (c.sequence(i).q_len > most_few_queries) return false;
    return true;
}

void Split::prepare(const gyre_context &context, AttentionTask *task) {
    AttentionCall &c = task->call;
    merge.kernel = find_merge_kernel(context, GYRE_F32, c.out.dtype);
    most_parts = std::clamp<int64_t>(ceil_div(c.k.seqlen, AttentionTask::least_part), 1, AttentionTask::most_parts);
    const Heads &q = c.q;
    Results &p = merge.parts;
    p.out = {nullptr, GYRE_F32, q.batch, q.seqlen, q.heads, c.v.dim, 0, q.heads * c.v.dim, c.v.dim};
    p.out.batch_stride = q.seqlen * p.out.token_stride;
    p.lse = {nullptr, q.heads * q.seqlen, q.seqlen};
    merge.out_part_stride = q.batch * p.out.batch_stride;
    merge.lse_part_stride = q.batch * p.lse.batch_stride;
    merge.merged = {c.out, c.lse};
    const auto bytes = [&](int64_t elements) {
        return round_up(static_cast<size_t>(most_parts * elements) * sizeof(float));
    };
    out_bytes = bytes(merge.out_part_stride);
    lse_bytes = bytes(merge.lse_part_stride);

    task->split = true;
    task->out_part_stride = merge.out_part_stride;
    task->lse_part_stride = merge.lse_part_stride;
}

void Split::place(char *memory, AttentionTask *task) {
    if (!on()) return;
    merge.parts.out.data = memory;
    merge.parts.lse.data = reinterpret_cast<float *>(memory + out_bytes);
    task->call.out = merge.parts.out;
    task->call.lse = merge.parts.lse;
}

int64_t Split::head_runs() const { return ceil_div(merge.merged.out.heads, merge.kernel->most_heads); }

int64_t Split::tasks(const AttentionTask &task) const { return on() ? task.call.sequences * head_runs() : 0; }

bool Split::run(const AttentionTask &task, int64_t index, char *scratch) const {
    if (!task.call.has(index / head_runs())) return true;
    const Sequence s = task.call.sequence(index / head_runs());
    if (s.q_len == 0) return true;
    const int64_t first_head = index % head_runs() * merge.kernel->most_heads;
    const int64_t heads = std::min(merge.kernel->most_heads, merge.merged.out.heads - first_head);
    return merge.run({s.batch, s.q_first, s.q_len, first_head, heads}, task.parts(s), scratch, &task.terms);
}

} // namespace gyre
