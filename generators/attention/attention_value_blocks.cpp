// Keys and values in matrix tiles where they are stored, values in blocks of tile_depth keys.
#include "../common/tile_products.h"
#include "attention_products.h"

namespace gyre::attention {
using namespace Halide;
namespace {

void define_ones(Stages &s) {
    s.v_ones = Func("v_ones");
    s.v_ones(s.j, s.d) = Expr(0x3f803f80u);
}

} // namespace

LastStep::LastStep(const Stages &s, const Expr &keys) {
    const Sizes &z = s.sizes;
    const Expr last = keys - 1 - s.b * z.key_block;
    step = unsafe_promise_clamped(last / z.tile_depth, 0, z.key_block / z.tile_depth - 1);
    partial = last >= 0 && last < z.key_block && keys % z.tile_depth != 0;
}

void define_stored_tile_operands(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &b = s.b, &d = s.d;
    // Of groups of keys; a task's first key is the first of one. Past the last one it is repeated.
    const auto offsets = [&](const std::string &name, const KeyRows &rows, int group) {
        Func first(name);
        const Expr key = min(b * z.key_block + j * group, (in.keys - 1) / group * group);
        first(j, b) = offset_of_key(in.pages, rows, key);
        return first;
    };
    s.k_offsets = offsets("k_offsets", in.k, tile_rows);
    s.v_offsets = offsets("v_offsets", in.v, z.tile_depth);
    const auto within = [](const KeyRows &rows, const Expr &offset) {
        return unsafe_promise_clamped(offset, 0, rows.size - 1);
    };
    s.k_rows = Func("k_rows"), s.v_rows = Func("v_rows");
    s.k_rows(d, j, b) =
        in.k.elements(d, within(in.k, s.k_offsets(j / tile_rows, b) + j % tile_rows * in.k.slot_stride));
    const auto value = [&](const Expr &slot, const Expr &feature, const Expr &step) {
        return in.v.elements(slot, within(in.v, s.v_offsets(step, b) + feature * z.tile_depth));
    };
    s.v_rows(j, d, b) = value(j % z.tile_depth, d, j / z.tile_depth);

    // A weight of 0 times whatever a slot without a key holds need not be 0: there the last key is repeated.
    const LastStep last(s, in.keys);
    const Expr last_slot = (in.keys - 1) % z.tile_depth;
    RDom copied(0, z.tile_depth, 0, z.v_head_dim, "last_values");
    copied.where(last.partial);
    s.v_last = Func("v_last");
    s.v_last(j, d, b) = undef<uint16_t>();
    s.v_last(copied.x, copied.y, b) =
        select(copied.x <= last_slot, value(copied.x, copied.y, last.step), value(last_slot, copied.y, last.step));
    s.last_slot = copied.x, s.last_feature = copied.y;
    define_ones(s);
}

// Slots that hold no key are there up to a whole step, and repeat the last key.
void define_formed_tile_operands(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &b = s.b, &d = s.d;
    const auto within = [](const KeyRows &rows, const Expr &offset) {
        return unsafe_promise_clamped(offset, 0, rows.size - 1);
    };
    const Expr key = b * z.key_block + j;
    s.k_rows = Func("k_rows"), s.v_rows = Func("v_rows");
    s.k_rows(d, j, b) = in.k.elements(d, within(in.k, key * in.k.slot_stride));
    const Expr step = b * (z.key_block / z.tile_depth) + j / z.tile_depth;
    s.v_rows(j, d, b) = in.v.elements(j % z.tile_depth, within(in.v, (step * z.v_head_dim + d) * z.tile_depth));
    define_ones(s);
}

} // namespace gyre::attention
