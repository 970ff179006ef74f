#include "rows.h"

#include "common/stored_rows.h"
#include "math/storage.h"

#include <functional>

namespace gyre::attention {
using namespace Halide;
namespace {

using Element = std::function<Expr(const Expr &feature)>;

Expr key_of_block(const Stages &s, const Inputs &in) { return min(s.b * s.sizes.key_block + s.j, in.keys - 1); }

void define_offsets(Stages &s, const Inputs &in, const OperandForm &form) {
    const Var &j = s.j, &b = s.b;
    OperandStages &o = s.operands;
    const Expr key = key_of_block(s, in);
    o.k_offsets = Func("k_offsets");
    o.v_offsets = Func("v_offsets");
    o.k_offsets(j, b) = offset_of_key(in.pages, in.k, key, form.one_page_apart);
    const Expr value_key = form.no_values_past_end ? s.b * s.sizes.key_block + s.j : key;
    o.v_offsets(j, b) = offset_of_key(in.pages, in.v, value_key, form.one_page_apart);
    if (form.one_page_apart && in.pages.count.defined()) o.has_one_page = in.pages.count == 1;
    o.k_rows = Func("k_rows");
    o.v_rows = Func("v_rows");
}

Element element_at(const KeyRows &rows, const Expr &offset) {
    return [&rows, within = unsafe_promise_clamped(offset, 0, rows.size - 1)](const Expr &feature) {
        return rows.elements(feature, within);
    };
}

} // namespace

void Rows::define(Stages &s, const Inputs &in, const OperandForm &form) const {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &b = s.b, &d = s.d;
    OperandStages &o = s.operands;
    define_offsets(s, in, form);
    const Expr key = key_of_block(s, in);
    RowForm of_keys{z.head_dim, z.padded, form.as_bits, as_stored, form.unwidened_keys};
    RowForm of_values{z.v_head_dim, z.padded, form.as_bits, as_stored};
    of_keys.count = s.k_features;
    of_values.count = s.v_features;
    o.k_rotated = define_rows(o.k_rows, {element_at(in.k, o.k_offsets(j, b)), in.head_dim, key, in.k_rotation},
                              {d, j, b}, of_keys);
    o.v_rotated = define_rows(o.v_rows, {element_at(in.v, o.v_offsets(j, b)), in.v_head_dim, key, in.v_rotation},
                              {d, j, b}, of_values);
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
    const Var &j = s.j, &b = s.b, &d = s.d;
    OperandStages &o = s.operands;
    define_offsets(s, in, form);
    const Expr of_value = min(d / lanes * lanes, in.v_head_dim - lanes) + d % lanes;
    o.k_rows(d, j, b) = widen(element_at(in.k, o.k_offsets(j, b))(d));
    o.v_rows(d, j, b) = widen(element_at(in.v, o.v_offsets(j, b))(of_value));
}

Expr RowsInWholeVectors::place(const Stages &s, const Inputs &in, const Expr &feature) const {
    const Expr whole = in.v_head_dim / lanes * lanes;
    const Expr place = select(feature < whole, feature, feature - (in.v_head_dim - lanes) + whole);
    const int together = lanes * s.sizes.feature_chunk; // as many groups of these as the tensor needs
    const Expr groups =
        unsafe_promise_clamped((in.v_head_dim + (together - 1)) / together, 1, s.sizes.v_head_dim / together);
    return unsafe_promise_clamped(place, 0, groups * together - 1);
}

} // namespace gyre::attention
