// Keys and values in matrix tiles where they are stored, values in blocks of tile_depth keys.
#include "attention/engines/tiles/guard.h"
#include "attention/engines/vectors/products.h"
#include "passes/tile_products.h"

namespace gyre::attention {
using namespace Halide;
namespace {

void define_ones(Stages &s) {
    s.v_ones = Func("v_ones");
    s.v_ones(s.j, s.d) = Expr(0x3f803f80u);
}

} // namespace

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

    // Steps that tiles do not take from where they are: those with slots that hold no key, where the last key is repeated, since a
    // weight of 0 times whatever they hold need not be 0; and all steps of cleaned tasks.
    s.first_copied = Func("first_copied");
    s.first_copied(b) = select(s.cleaned() != 0, 0, max(in.keys - b * z.key_block, 0) / z.tile_depth);
    const Expr slot = j % z.tile_depth, step = j / z.tile_depth;
    const Expr last_slot = clamp(in.keys - 1 - b * z.key_block - step * z.tile_depth, 0, z.tile_depth - 1);
    const Expr held = select(slot <= last_slot, value(slot, d, step), value(last_slot, d, step));
    s.v_copied = Func("v_copied");
    s.v_copied(j, d, b) = select(s.cleaned() != 0, finite_number(held), held);
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
