// How an attention call is cut into tasks: (sequence, heads, tokens), and for few queries parts of the keys.
#include "attention/plan/plan.h"

#include "attention/dispatch/dispatch.h"
#include "attention/masks/part.h"
#include "attention/task/heads.h"
#include "core/error.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace gyre {
namespace {

/// Which of the things that a kernel is made for is the one that none has.
gyre_status fail_without_kernel(const gyre_context &context, const AttentionCall &c) {
    const auto scores = usable_scores(context);
    if (c.score && std::find(scores.begin(), scores.end(), c.score) == scores.end())
        return refuse_score(c.score, scores);
    const std::string with = c.score        ? " with score " + std::string(c.score)
                             : c.dropout.on ? " with dropout"
                             : c.general()  ? " with a bias, mask, softcap or ALiBi"
                                            : "";
    const char *blocks = c.value_blocks ? " and values in blocks" : "";
    return refuse(GYRE_UNSUPPORTED, "q", "no linked kernel of %s takes %s with head sizes %lld and %lld%s%s",
                  context.best->name, dtype_name(c.q.dtype), static_cast<long long>(c.q.dim),
                  static_cast<long long>(c.v.dim), with.c_str(), blocks);
}

/// Numbers are made f32 for a kernel of many rows only where that can be done.
void leave_out_wide_kernel(const gyre_context &context, AttentionTask *t) {
    const AttentionKernel *&many = t->kernels.many_rows;
    if (!is_x86 || !many || many->dtype == t->call.q.dtype) return;
    if (!WidenedKeys::takes(context, t->call, t->most_keys(*many))) many = nullptr;
}

/// What a task's rows must fit: the kernel, and those that some sequences or row tiles take. Which rows share a row tile then depends neither
/// on where a task begins nor on where masks come to ranges.
AttentionKernel kernel_to_fit(const AttentionTask &t) {
    AttentionKernel all = *t.kernels.usual;
    // A kernel of one row tile serves sequences that have no more rows, and others those that have.
    if (is_x86 && t.kernels.few_rows && all.task_rows == all.row_tile)
        all.task_rows = std::max(all.task_rows, t.kernels.few_rows->task_rows);
    for (const AttentionKernel *other : {t.kernels.few_keys, t.kernels.uncopied, t.unmasked}) {
        if (!other) continue;
        all.row_tile = std::lcm(all.row_tile, other->row_tile);
        all.task_rows = std::min(all.task_rows, other->task_rows) / all.row_tile * all.row_tile;
    }
    if (is_x86 && !t.split && t.kernels.general_in_place) { // whose sequences have fewer rows than any task
        all.row_tile = std::lcm(all.row_tile, t.kernels.general_in_place->row_tile);
        all.task_rows = all.task_rows / all.row_tile * all.row_tile;
    }
    return all;
}

/// The kernel for row tiles of a call that see all of a range of keys: the one that it would have without its mask, if that is all that
/// is special about it.
void choose_unmasked_kernel(const gyre_context &context, AttentionTask *t) {
    const bool may_have = has_masks_part() && has_spans(t->call) && !t->call.dropout.on;
    const AttentionKernel &usual = *t->kernels.usual;
    if (!may_have || t->split || usual.is(trait::partial)) return; // parts of keys are not those of a range
    AttentionCall unmasked = t->call;
    unmasked.mask = {};
    if (unmasked.general()) return;
    const AttentionKernel *kernel = find_unformed_kernel(context, unmasked, unmasked.q.dtype == GYRE_F32);
    const bool fits =
        kernel && std::lcm(kernel->row_tile, usual.row_tile) <= std::min(kernel->task_rows, usual.task_rows);
    if (fits) t->unmasked = kernel;
}

} // namespace

const SequenceKernels &Plan::find_kernels(const gyre_context &context) {
    AttentionCall &c = task.call;
    SequenceKernels &kernels = task.kernels;
    take_target(context, &c);
    if (!kernels.usual)
        kernels = find_sequence_kernels(context, c, may_split && !c.empty() && has_few_queries(c, need_data));
    return kernels;
}

gyre_status Plan::prepare(gyre_context &context) {
    AttentionTask &t = task;
    AttentionCall &c = t.call;
    find_kernels(context);
    if (!t.kernels.usual) return fail_without_kernel(context, c);
    t.split = t.kernels.usual->is(trait::partial);
    leave_out_wide_kernel(context, &t);
    t.kernels.settle(c);
    if (t.split) split.prepare(context, &t);
    const AttentionKernel &usual = *t.kernels.usual;
    if (usual.is(trait::formed)) {
        t.operands.prepare(context, c);
        t.unformed = find_unformed_kernel(context, c);
    }
    GYRE_TRY(t.widened.prepare(context, c, usual.dtype, t.most_keys()));
    if (is_x86 && usual.dtype != c.q.dtype) t.widened.add_queries(std::min(usual.task_rows, c.q.seqlen * c.q.heads));
    if (c.score) GYRE_TRY(check_score_inputs(args, c, usual.score_inputs, need_data, &t.score_views));
    GYRE_TRY(t.angles.prepare(context, c));

    if (is_x86 && !split.on() && !t.widened.on() && !c.empty() && c.k.heads > 0)
        t.last_rows.prepare(context, c, usual, t.sharing());
    const int64_t longest = split.on() ? std::min(c.q.seqlen, most_few_queries) : c.q.seqlen;
    choose_unmasked_kernel(context, &t);
    const AttentionKernel fitted = kernel_to_fit(t);
    t.heads = choose_task_heads(fitted, c, longest);
    t.tokens = split.on() && longest * t.heads <= fitted.task_rows
                   ? longest
                   : choose_task_tokens(fitted, c, longest, t.heads, context.threads.size());
    tiles = ceil_div(longest, t.tokens);
    if (is_x86 && split.on()) t.for_own_keys = find_own_keys_kernel(context, c);
    t.key_heads = choose_task_key_heads(t, longest, context.threads.size());
    table_bytes = t.angles.bytes();
    term_bytes = HeadTerms::bytes(c);
    order.prepare(c, context.threads.size());
    slab_bytes = round_up(
        std::max({t.scratch_bytes(), split.scratch_bytes(), t.angles.scratch_bytes(), t.operands.scratch_bytes()}));
    return GYRE_OK;
}

const AttentionKernel &Plan::said() const {
    const AttentionTask &t = task;
    const AttentionKernel *said = t.kernels.usual;
    if (t.call.sequences == 0 || t.kernels.are_one()) return *said;
    std::pair<bool, int64_t> most{false, -1};
    for (int64_t i = 0; i < t.call.sequences; i++) {
        if (!t.call.has(i)) continue;
        const Sequence s = t.call.sequence(i);
        const AttentionKernel &kernel = t.kernel_of(s);
        const std::pair<bool, int64_t> rank{kernel.has_bf16_dots(), s.q_len};
        if (rank > most) said = &kernel;
        most = std::max(most, rank);
    }
    return *said;
}

} // namespace gyre
