// Blocks of keys, and of each with the rows that see some of it the shares of gradients.
#include "attention/call/head_terms.h"
#include "backward/general_block_arguments.h"
#include "backward/runner.h"
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"

#include <algorithm>
#include <cstring>
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
    const halide_type_t f32 = halide_type(GYRE_F32);
    const int64_t lanes = blocks().key_lanes, count = round_to(keys, blocks().key_unit()) / lanes;
    Buffer x(rows, f32, {{z.features, 1}, {lanes, z.stride}, {count, lanes * z.stride}});
    Buffer out(panels, f32, {{lanes, 1}, {z.features, lanes}, {count, z.features * lanes}});
    KernelArguments<PanelsArguments> arguments;
    arguments[PanelsArguments::x] = &x;
    arguments[PanelsArguments::out] = &out;
    Slab slab(m.scratch, task.kernels.panels->workspace);
    return arguments.call(*task.kernels.panels->kernel, slab);
}

void BackwardRunner::clear_past_end(float *rows, int64_t count) const {
    const int64_t padding = round_to(count, blocks().key_unit()) - count;
    std::memset(rows + count * z.stride, 0, static_cast<size_t>(padding * z.stride) * sizeof(float));
}

bool BackwardRunner::load_keys(int64_t first) const {
    const int64_t count = std::min(z.keys, s.k_len - first);
    clear_past_end(m.k, count);
    return load_operand(key_run(c.k, first, count), m.k);
}

bool BackwardRunner::run_keys(int64_t first) const {
    const int64_t count = std::min(z.keys, s.k_len - first);
    for (float *rows : {m.k_grad, m.v_grad})
        std::memset(rows, 0, static_cast<size_t>(round_to(count, blocks().key_unit()) * z.stride) * sizeof(float));
    clear_past_end(m.v, count);
    if (!load_keys(first) || !load_operand(value_run(c.v, first, count), m.v)) return false;
    if (!form_panels(m.k, count, m.k_panels) || !form_panels(m.v, count, m.v_panels)) return false;
    for (int64_t g = 0; g < z.group; g++)
        for (int64_t row = 0; row < s.q_len; row += blocks().rows)
            if (!add_block(g, row, first)) return false;
    return store(m.k_grad, key_run(task.call.k_grad, first, count)) &&
           store(m.v_grad, value_run(task.call.v_grad, first, count));
}

BackwardRunner::Sight BackwardRunner::sight(int64_t first_row, int64_t first_key) const {
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
    const Sight seen = sight(first_row, first_key);
    if (seen.nothing) return true;

    const halide_type_t f32 = halide_type(GYRE_F32);
    const int64_t tile = b.tile, row = g * z.rows + first_row;
    const auto tiled = [&](float *data, int64_t extent) {
        return Buffer(data, f32, {{z.features, 1}, {tile, z.stride}, {extent / tile, tile * z.stride}});
    };
    const auto panels = [&](float *data) {
        return Buffer(data, f32,
                      {{b.key_lanes, 1}, {z.features, b.key_lanes}, {b.keys / b.key_lanes, z.features * b.key_lanes}});
    };
    const auto numbers = [&](float *data) { return Buffer(data + row, f32, {{tile, 1}, {b.rows / tile, tile}}); };
    Buffer q = tiled(m.q + row * z.stride, b.rows), out_grad = tiled(m.out_grad + row * z.stride, b.rows);
    const int64_t summed_keys = b.pairs ? round_to(seen.keys, tile) : b.keys;
    Buffer q_grad = tiled(m.q_grad + row * z.stride, round_to(seen.rows, b.row_unit()));
    Buffer k = tiled(m.k, b.keys), k_grad = tiled(m.k_grad, summed_keys), v_grad = tiled(m.v_grad, summed_keys);
    Buffer k_panels = panels(m.k_panels), v_panels = panels(m.v_panels);
    Buffer power = numbers(m.power), delta = numbers(m.delta);
    const auto feature_tiles = static_cast<int32_t>(z.features / b.features);
    const auto head_dim = static_cast<int32_t>(c.q.dim), v_head_dim = static_cast<int32_t>(c.v.dim);
    const float alibi = c.alibi ? HeadTerms::finite_product(c.alibi[head(g)], log2_e) : 0;
    using A = BackwardArguments;
    KernelArguments<A> arguments(b.places);
    arguments[A::q] = &q;
    arguments[A::out_grad] = &out_grad;
    arguments[A::k] = &k;
    arguments[A::k_panels] = &k_panels;
    arguments[A::v_panels] = &v_panels;
    arguments[A::lse] = &power;
    arguments[A::delta] = &delta;
    arguments[A::rows] = &seen.rows;
    arguments[A::keys] = &seen.keys;
    arguments[A::feature_tiles] = &feature_tiles;
    arguments[A::head_dim] = &head_dim;
    arguments[A::v_head_dim] = &v_head_dim;
    arguments[A::scale] = &c.scale;
    arguments[A::first_visible] = &seen.visible.first;
    arguments[A::last_visible] = &seen.visible.last;
    arguments[A::alibi] = &alibi;
    arguments[A::alibi_origin] = &seen.visible.origin;
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
