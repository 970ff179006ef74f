#include "attention/plan/split.h"

#include "attention/dispatch/dispatch.h"
#include "core/kernel_call.h"

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
    most_parts = task->most_parts_of(c.most_keys_seen(std::min(c.q.seqlen, most_few_queries)));
    const Heads &q = c.q;
    Results &p = merge.parts;
    // A token's parts lie together, within what a kernel's index reaches however many sequences there are.
    p.out = {nullptr, GYRE_F32, q.batch, q.seqlen, q.heads, c.v.dim, 0, most_parts * q.heads * c.v.dim, c.v.dim};
    p.out.batch_stride = q.seqlen * p.out.token_stride;
    p.lse = {nullptr, q.heads * q.seqlen, q.seqlen};
    merge.out_part_stride = q.heads * c.v.dim;
    merge.lse_part_stride = q.batch * p.lse.batch_stride;
    merge.merged = {c.out, c.lse};
    // A merge of one part copies it, bit for bit: its kernel may as well write where the copy would be.
    task->whole = merge.merged;
    task->has_whole = c.out.dtype == GYRE_F32;
    const bool some_merge_sinks = c.sinks && (c.has_lengths() || task->merges_sinks(*task->kernels.usual));
    all_whole = task->has_whole && most_parts == 1 && !some_merge_sinks;
    const auto bytes = [&](int64_t elements) { return round_up(static_cast<size_t>(elements) * sizeof(float)); };
    if (!all_whole) {
        out_bytes = bytes(q.batch * p.out.batch_stride);
        lse_bytes = bytes(most_parts * merge.lse_part_stride);
    }
    merge_heads = most_merged_heads();

    task->out_part_stride = merge.out_part_stride;
    task->lse_part_stride = merge.lse_part_stride;
}

void Split::place(char *memory, AttentionTask *task) {
    if (!on() || all_whole) return;
    merge.parts.out.data = memory;
    merge.parts.lse.data = reinterpret_cast<float *>(memory + out_bytes);
    task->call.out = merge.parts.out;
    task->call.lse = merge.parts.lse;
}

int64_t Split::most_merged_heads() const {
    const Heads &out = merge.merged.out;
    const int64_t tokens = std::min(out.seqlen, merge.kernel->most_tokens);
    const auto fits = [&](int64_t heads) {
        return fits_kernel_index({{out.dim, 1}, {heads, out.head_stride}, {tokens, out.token_stride}}) &&
               fits_kernel_index({{tokens, 1}, {heads, merge.merged.lse.head_stride}});
    };
    int64_t heads = std::clamp<int64_t>(out.heads, 1, merge.kernel->most_heads);
    while (heads > 1 && !fits(heads)) heads = ceil_div(heads, 2);
    return heads;
}

int64_t Split::head_runs() const { return ceil_div(merge.merged.out.heads, merge_heads); }

int64_t Split::tasks(const AttentionTask &task) const {
    return on() && !all_whole ? task.call.sequences * head_runs() : 0;
}

bool Split::run(const AttentionTask &task, int64_t index, char *scratch) const {
    if (!task.call.has(index / head_runs())) return true;
    const Sequence s = task.call.sequence(index / head_runs());
    if (s.q_len == 0 || task.is_whole(s)) return true;
    const int64_t first_head = index % head_runs() * merge_heads;
    const int64_t heads = std::min(merge_heads, merge.merged.out.heads - first_head);
    return merge.run({s.batch, s.q_first, s.q_len, first_head, heads}, task.parts(s), scratch, &task.terms);
}

} // namespace gyre
