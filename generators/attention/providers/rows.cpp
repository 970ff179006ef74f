#include "rows.h"

#include "attention/recurrence/features.h"
#include "attention/recurrence/rows.h"
#include "attention/recurrence/visible.h"
#include "common/stored_rows.h"
#include "math/storage.h"

#include <functional>

namespace gyre::attention {
using namespace Halide;
namespace {

using Element = std::function<Expr(const Expr &feature)>;

Expr key_of_block(const Stages &s, const Inputs &in) { return min(s.b * s.sizes.key_block + s.j, in.keys - 1); }

/// Which key head each row has, in the order of the tables' last dimension.
void define_key_heads(Stages &s, const Inputs &in) {
    // Exact for so few heads, and quicker than a division.
    const Expr share = cast<float>(in.key_heads) / cast<float>(in.heads), head = row_of_tile(s, in, 0, s.t).head;
    s.operands.key_heads = Func("key_heads_of_rows");
    s.operands.key_heads(s.t) = cast<int>((cast<float>(head) + 0.5f) * share);
}

void define_offsets(Stages &s, const Inputs &in, const OperandForm &form) {
    const Var &j = s.j, &b = s.b, &g = s.operands.g;
    OperandStages &o = s.operands;
    const Expr key = key_of_block(s, in);
    const Expr value_key = form.no_values_past_end ? s.b * s.sizes.key_block + s.j : key;
    const Expr of_key = offset_of_key(in.pages, in.k, key, form.one_page_apart);
    const Expr of_value = offset_of_key(in.pages, in.v, value_key, form.one_page_apart);
    o.k_offsets = Func("k_offsets");
    o.v_offsets = Func("v_offsets");
    if (form.own_keys) {
        define_key_heads(s, in);
        o.k_offsets(j, b, g) = of_key + g * in.k.head_stride;
        o.v_offsets(j, b, g) = of_value + g * in.v.head_stride;
    } else {
        o.k_offsets(j, b) = of_key;
        o.v_offsets(j, b) = of_value;
    }
    if (form.one_page_apart && in.pages.count.defined()) o.has_one_page = in.pages.count == 1;
    o.k_rows = Func("k_rows");
    o.v_rows = Func("v_rows");
}

/// The arguments of an element of k_rows and v_rows.
std::vector<Var> arguments_of_rows(const Stages &s, const OperandForm &form) {
    std::vector<Var> arguments{s.d, s.j, s.b};
    if (form.own_keys) arguments.push_back(s.t);
    return arguments;
}

/// Where a row of keys or values begins.
Expr begin_of_row(const Stages &s, const Inputs &in, const Func &offsets) {
    const OperandStages &o = s.operands;
    if (!o.key_heads.defined()) return offsets(s.j, s.b);
    return offsets(s.j, s.b, unsafe_promise_clamped(o.key_heads(s.t), 0, in.key_heads - 1));
}

Element element_at(const KeyRows &rows, const Expr &offset) {
    return [&rows, within = unsafe_promise_clamped(offset, 0, rows.size - 1)](const Expr &feature) {
        return rows.elements(feature, within);
    };
}

} // namespace

void Rows::define(Stages &s, const Inputs &in, const OperandForm &form) const {
    const Sizes &z = s.sizes;
    OperandStages &o = s.operands;
    define_offsets(s, in, form);
    const Expr key = key_of_block(s, in);
    RowForm of_keys{z.head_dim, z.padded, form.as_bits, as_stored, form.unwidened_keys};
    RowForm of_values{z.v_head_dim, z.padded, form.as_bits, as_stored};
    of_keys.count = s.k_features;
    of_values.count = s.v_features;
    o.k_rotated =
        define_rows(o.k_rows, {element_at(in.k, begin_of_row(s, in, o.k_offsets)), in.head_dim, key, in.k_rotation},
                    arguments_of_rows(s, form), of_keys);
    o.v_rotated =
        define_rows(o.v_rows, {element_at(in.v, begin_of_row(s, in, o.v_offsets)), in.v_head_dim, key, in.v_rotation},
                    arguments_of_rows(s, form), of_values);
}

void ScaledRows::define(Stages &s, const Inputs &in, const OperandForm &form) const {
    Rows::define(s, in, form);
    const Var &j = s.j, &t = s.t, &b = s.b;
    RDom held(0, s.sizes.key_block, "held"); // keys of a block that some row sees
    const Expr key = b * s.sizes.key_block + held;
    held.where(key <= visible_keys(in, s).tile_last);
    Func &scales = s.operands.key_scales;
    scales = Func("key_scales");
    scales(j, t, b) = {undef<float>(), undef<float>()};
    scales(held, t, b) = {in.k_scale(key), in.v_scale(key)};
}

void RowsInWholeVectors::define(Stages &s, const Inputs &in, const OperandForm &form) const {
    const Var &d = s.d;
    OperandStages &o = s.operands;
    define_offsets(s, in, form);
    const Expr of_value = min(d / lanes * lanes, in.v_head_dim - lanes) + d % lanes;
    o.k_rows(arguments_of_rows(s, form)) = widen(element_at(in.k, begin_of_row(s, in, o.k_offsets))(d));
    o.v_rows(arguments_of_rows(s, form)) = widen(element_at(in.v, begin_of_row(s, in, o.v_offsets))(of_value));
}

Expr RowsInWholeVectors::place(const Stages &s, const Inputs &in, const Expr &feature) const {
    const Expr whole = in.v_head_dim / lanes * lanes;
    const Expr place = select(feature < whole, feature, feature - (in.v_head_dim - lanes) + whole);
    if (counts_features(s)) return unsafe_promise_clamped(place, 0, s.v_features - 1);
    const int together = lanes * s.sizes.feature_chunk; // as many groups of these as the tensor needs
    const Expr groups =
        unsafe_promise_clamped((in.v_head_dim + (together - 1)) / together, 1, s.sizes.v_head_dim / together);
    return unsafe_promise_clamped(place, 0, groups * together - 1);
}

} // namespace gyre::attention
