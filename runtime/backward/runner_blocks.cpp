// Blocks of keys, and of each with the rows that see some of it the shares of gradients.
#include "attention/call/head_terms.h"
#include "backward/general_block_arguments.h"
#include "backward/runner.h"

#include <algorithm>
#include <optional>

namespace gyre {

bool BackwardRunner::run() {
    bool ok = load_queries() && (!task.normalizes || normalize_rows());
    for (int64_t first = 0; ok && first < s.k_len; first += z.keys) ok = run_keys(first);
    for (int64_t g = 0; ok && g < z.group; g++) ok = store_queries(g);
    clear_unused_keys();
    return ok;
}

bool BackwardRunner::form_panels(const float *rows, int64_t keys, float *panels) const {
    return panels_of(rows, z.stride, blocks().panels(keys), panels);
}

/// Whole panels of values that kernels may read where they are stored; the others by way of rows.
bool BackwardRunner::form_value_panels(int64_t first, int64_t count) const {
    const float *const stored = stored_rows(value_run(c.v, first, count));
    const int64_t whole = stored ? count / blocks().key_lanes : 0, done = whole * blocks().key_lanes;
    if (whole > 0 && !panels_of(stored, c.v.token_stride, whole, m.v_panels)) return false;
    if (done == count) return true;
    clear_past_end(m.v, count - done);
    return load_operand(value_run(c.v, first + done, count - done), m.v) &&
           form_panels(m.v, count - done, m.v_panels + done * z.features);
}

bool BackwardRunner::panels_of(const float *rows, int64_t stride, int64_t count, float *panels) const {
    const halide_type_t f32 = halide_type(GYRE_F32);
    const int64_t lanes = blocks().key_lanes;
    Buffer x(rows, f32, {{z.features, 1}, {lanes, stride}, {count, lanes * stride}});
    Buffer out(panels, f32, {{lanes, 1}, {z.features, lanes}, {count, z.features * lanes}});
    KernelArguments<PanelsArguments> arguments;
    arguments[PanelsArguments::x] = &x;
    arguments[PanelsArguments::out] = &out;
    Slab slab(m.scratch, task.kernels.panels->workspace);
    return arguments.call(*task.kernels.panels->kernel, slab);
}

void BackwardRunner::clear_past_end(float *rows, int64_t count) const {
    clear_rows(rows + count * z.stride, round_to(count, blocks().key_unit()) - count);
}

bool BackwardRunner::load_keys(int64_t first) const {
    const int64_t count = std::min(z.keys, s.k_len - first);
    clear_past_end(m.k, count);
    return load_operand(key_run(c.k, first, count), m.k);
}

bool BackwardRunner::run_keys(int64_t first) const {
    const int64_t count = std::min(z.keys, s.k_len - first);
    for (float *rows : {m.k_grad, m.v_grad}) clear_rows(rows, round_to(count, blocks().key_unit()));
    if (!load_keys(first) || !form_panels(m.k, count, m.k_panels) || !form_value_panels(first, count)) return false;
    for (int64_t g = 0; g < z.group; g++)
        for (int64_t row = 0; row < s.q_len; row += blocks().rows)
            if (!add_block(g, row, first)) return false;
    return store(m.k_grad, key_run(task.call.k_grad, first, count)) &&
           store(m.v_grad, value_run(task.call.v_grad, first, count));
}

BlockSight BackwardRunner::sight(int64_t first_row, int64_t first_key) const {
    const int64_t rows = std::min(blocks().rows, s.q_len - first_row);
    const int64_t keys = std::min(blocks().keys, s.k_len - first_key);
    const int64_t distance = first_key - first_row - c.shift(s);
    const bool nothing =
        (c.right >= 0 && distance > c.right + rows - 1) || (c.left >= 0 && -distance > c.left + keys - 1);
    return {static_cast<int32_t>(rows), static_cast<int32_t>(keys), VisibleKeys(distance, c.left, c.right), nothing};
}

/// Nothing, if no row sees a key of the block.
bool BackwardRunner::add_block(int64_t g, int64_t first_row, int64_t first_key) const {
    const BlockKernel &b = blocks();
    const BlockSight seen = sight(first_row, first_key);
    if (seen.nothing) return true;

    const int64_t row = g * z.rows + first_row;
    const BlockViews views{b, z};
    Buffer out_grad = views.rows(m.out_grad + row * z.stride, b.rows);
    Buffer q_grad = views.rows(m.q_grad + row * z.stride, b.pairs ? round_to(seen.rows, b.row_unit()) : b.rows);
    const int64_t summed_keys = b.pairs ? round_to(seen.keys, b.tile) : b.keys;
    Buffer k = views.rows(m.k, b.keys), v_panels = views.panels(m.v_panels), delta = views.numbers(m.delta + row);
    Buffer k_grad = views.rows(m.k_grad, summed_keys), v_grad = views.rows(m.v_grad, summed_keys);
    const auto v_head_dim = static_cast<int32_t>(c.v.dim);
    BlockArguments shared(views, m, row, c.q.dim, c.alibi ? HeadTerms::finite_product(c.alibi[head(g)], log2_e) : 0);
    using A = BackwardArguments;
    KernelArguments<A> arguments(b.places);
    shared.add_to(&arguments, seen, c);
    arguments[A::out_grad] = &out_grad;
    arguments[A::k] = &k;
    arguments[A::v_panels] = &v_panels;
    arguments[A::v_head_dim] = &v_head_dim;
    arguments[A::delta] = &delta;
    arguments[A::softcap] = &c.softcap;
    arguments[A::dq] = &q_grad;
    arguments[A::dk] = &k_grad;
    arguments[A::dv] = &v_grad;
    std::optional<GeneralBlockArguments> general;
    if (b.general) {
        general.emplace(task.call, s, index, head(g), first_row, seen.rows, first_key, seen.keys);
        general->add_to(&arguments);
    }
    Slab slab(m.scratch, b.workspace);
    return arguments.call(*b.kernel, slab);
}

} // namespace gyre
