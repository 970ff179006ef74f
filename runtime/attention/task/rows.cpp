#include "attention/task/rows.h"

#include <algorithm>

namespace gyre {
namespace {

int64_t first_key_head(const AttentionTask &task, const TaskExtent &x) { return x.head / task.sharing(); }

int64_t key_heads_of(const AttentionTask &task, const TaskExtent &x) {
    return std::max<int64_t>(x.heads / task.sharing(), 1);
}

/// Keys or values where the call has them.
KeyRows stored_rows(const AttentionTask &task, const TaskExtent &x, const Heads &t, int64_t page_stride) {
    const AttentionCall &c = task.call;
    const int64_t held = c.value_blocks ? ceil_div(x.keys, int64_t{GYRE_VALUE_BLOCK}) * GYRE_VALUE_BLOCK : x.keys;
    const halide_type_t type = c.value_blocks ? halide_type_t(halide_type_uint, 16) : halide_type(c.k.dtype);
    return {c,
            t,
            type,
            page_stride,
            x.sequence,
            x.sequence.k_first + x.first_key,
            first_key_head(task, x),
            held,
            key_heads_of(task, x)};
}

KeyRows rows_of_keys(const AttentionTask &task, const TaskExtent &x, bool formed, int64_t slot, char *widened) {
    if (formed) return task.operands.keys(slot, x.keys);
    if (task.widened.on()) return task.widened.keys(x.keys, widened);
    return stored_rows(task, x, task.call.k, task.call.pages.k_page_stride);
}

KeyRows rows_of_values(const AttentionTask &task, const TaskExtent &x, bool formed, int64_t slot, char *widened) {
    if (formed) return task.operands.values(slot, x.keys);
    if (task.widened.on()) return task.widened.values(x.keys, widened);
    return stored_rows(task, x, task.call.v, task.call.pages.v_page_stride);
}

} // namespace

TaskRows::TaskRows(const AttentionTask &task, const TaskExtent &x, const Results &results)
    : lse(results.lse.data, halide_type(GYRE_F32), {{x.tokens, 1}, {x.heads, results.lse.head_stride}}),
      q_angle(task.angles.queries(), x.sequence, x.index, x.first_token, x.tokens),
      o_angle(task.angles.results(), x.sequence, x.index, x.first_token, x.tokens),
      q_pairs(task.call.rope.on, task.call.rope), o_pairs(task.call.value_rope.on, task.call.value_rope) {
    const Sequence &s = x.sequence;
    const auto describe = [&](const Heads &t, Buffer *view) {
        view->describe(t.at(s.batch, s.q_first + x.first_token, x.head), halide_type(t.dtype),
                       {{t.dim, 1}, {x.heads, t.head_stride}, {x.tokens, t.token_stride}});
    };
    describe(task.call.q, &q);
    describe(results.out, &out);
}

void TaskRows::add_to(KernelArguments<AttentionArguments> *to) {
    using A = AttentionArguments;
    KernelArguments<A> &arguments = *to;
    arguments[A::q_cos] = &q_angle.cos;
    arguments[A::q_sin] = &q_angle.sin;
    arguments[A::o_cos] = &o_angle.cos;
    arguments[A::o_sin] = &o_angle.sin;
    arguments[A::q_half] = &q_pairs.half;
    arguments[A::q_interleaved] = &q_pairs.interleaved;
    arguments[A::o_half] = &o_pairs.half;
    arguments[A::o_interleaved] = &o_pairs.interleaved;
    arguments[A::q] = &q;
    arguments[A::out] = &out;
    arguments[A::lse] = &lse;
}

TaskKeys::TaskKeys(const AttentionTask &task, const AttentionKernel &of_rows, const TaskExtent &x, char *widened)
    : formed(task.operands.on() && of_rows.is(trait::formed)),
      slot(formed ? task.operands.at(task.call, x.index, first_key_head(task, x), x.first_key) : 0),
      k(rows_of_keys(task, x, formed, slot, widened)), v(rows_of_values(task, x, formed, slot, widened)),
      both(task.call, task.angles, x.sequence, x.index, x.first_key, x.keys, !task.widened.on()),
      key_heads(static_cast<int32_t>(key_heads_of(task, x))),
      k_head_stride(static_cast<int32_t>(task.call.k.head_stride)),
      v_head_stride(static_cast<int32_t>(task.call.v.head_stride)) {
    if (formed) task.operands.describe_squares(slot, x.keys, &squares);
}

void TaskKeys::add_to(KernelArguments<AttentionArguments> *to) {
    using A = AttentionArguments;
    KernelArguments<A> &arguments = *to;
    both.add_to(to, &k, &v);
    if (formed) arguments[A::key_squares] = &squares;
    if (!is_x86) return;
    arguments[A::key_heads] = &key_heads;
    arguments[A::k_head_stride] = &k_head_stride;
    arguments[A::v_head_stride] = &v_head_stride;
}

} // namespace gyre
