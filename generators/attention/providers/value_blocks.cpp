#include "value_blocks.h"

#include "passes/instructions/tile_products.h"

namespace gyre::attention {
using namespace Halide;
namespace {

Expr within(const KeyRows &rows, const Expr &offset) { return unsafe_promise_clamped(offset, 0, rows.size - 1); }

void define_ones(Stages &s) {
    Func &ones = s.operands.v_ones;
    ones = Func("v_ones");
    ones(s.j, s.d) = Expr(0x3f803f80u);
}

Expr value_of_slot(const Stages &s, const Inputs &in, const Expr &slot, const Expr &feature, const Expr &step) {
    return in.v.elements(slot, within(in.v, s.operands.v_offsets(step, s.b) + feature * tile_depth));
}

} // namespace

void ValueBlocks::define(Stages &s, const Inputs &in, const OperandForm &) const {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &b = s.b, &d = s.d;
    OperandStages &o = s.operands;
    // A row of the table is a group of keys. A task's first key begins a group, and past the last group the last one is repeated.
    const auto offsets = [&](const std::string &name, const KeyRows &rows, int group) {
        Func first(name);
        const Expr key = min(b * z.key_block + j * group, (in.keys - 1) / group * group);
        first(j, b) = offset_of_key(in.pages, rows, key);
        return first;
    };
    o.k_offsets = offsets("k_offsets", in.k, tile_rows);
    o.v_offsets = offsets("v_offsets", in.v, tile_depth);
    o.k_rows = Func("k_rows");
    o.v_rows = Func("v_rows");
    o.k_rows(d, j, b) =
        in.k.elements(d, within(in.k, o.k_offsets(j / tile_rows, b) + j % tile_rows * in.k.slot_stride));
    o.v_rows(j, d, b) = value_of_slot(s, in, j % tile_depth, d, j / tile_depth);
    define_ones(s);
}

Expr ValueBlocks::stored_value(const Inputs &in, const Expr &key, const Expr &feature) const {
    const Expr offset = offset_of_key(in.pages, in.v, key / tile_depth * tile_depth) + feature * tile_depth;
    return in.v.elements(key % tile_depth, within(in.v, offset));
}

Expr ValueBlocks::held_value(const Stages &s, const Inputs &in, const Expr &slot, const Expr &feature,
                             const Expr &step) const {
    const Expr last_slot = clamp(in.keys - 1 - s.b * s.sizes.key_block - step * tile_depth, 0, tile_depth - 1);
    return select(slot <= last_slot, value_of_slot(s, in, slot, feature, step),
                  value_of_slot(s, in, last_slot, feature, step));
}

void FormedOperands::define(Stages &s, const Inputs &in, const OperandForm &) const {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &b = s.b, &d = s.d;
    OperandStages &o = s.operands;
    const Expr key = b * z.key_block + j;
    o.k_rows = Func("k_rows");
    o.v_rows = Func("v_rows");
    o.k_rows(d, j, b) = in.k.elements(d, within(in.k, key * in.k.slot_stride));
    const Expr step = b * (z.key_block / tile_depth) + j / tile_depth;
    o.v_rows(j, d, b) = in.v.elements(j % tile_depth, within(in.v, (step * z.v_head_dim + d) * tile_depth));
    define_ones(s);
}

} // namespace gyre::attention
