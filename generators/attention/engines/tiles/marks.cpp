// Gives the rows of a cleaned task (guard.cpp) the values that they see and that its tiles did not take.
#include "attention/recurrence/rows.h"
#include "common/stored_rows.h"
#include "tiles.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr uint32_t exponent_f32 = 0x7f800000, quiet_nan = 0x7fc00000;

Expr as_f32(const Expr &row_element) {
    return row_element.type().is_float() ? row_element : reinterpret<float>(cast<uint32_t>(row_element) << 16);
}

Expr has_finite_bits(const Expr &bits) { return (bits & Expr(exponent_f32)) != Expr(exponent_f32); }

/// True if a mask or a bias hides the key from a row.
Expr is_hidden(const Inputs &in, const Expr &key, const Row &row) {
    return (in.has_mask && in.mask(key, row.token, row.head) == 0) ||
           (in.has_bias && in.bias_masks(key, row.token, row.head));
}

} // namespace

/// Appends to s.out_copy the update that gives rows of a cleaned task what they see and tiles did not take.
void Tiles::define_marks(const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &d = s.d, &r = s.r, &t = s.t, &j = s.j;
    s.seen_rows = Func("seen_rows");
    RowForm form{z.v_head_dim, z.padded, facts.terms == 1};
    form.count = s.v_features;
    form.as_stored = facts.in_place;
    if (provider->has_value_blocks())
        s.seen_rows(d, j) = provider->stored_value(in, j, d);
    else
        s.seen_rotated = define_rows(s.seen_rows,
                                     {[&](const Expr &feature) { return provider->stored_value(in, j, feature); },
                                      in.v_head_dim, j, in.v_rotation},
                                     {d, j}, form);
    const auto bits_of = [&](const Expr &feature, const Expr &key) {
        return reinterpret<uint32_t>(as_f32(s.seen_rows(feature, key)));
    };
    RDom features(0, s.v_features, "seen_features");
    s.seen_feature = features;
    s.seen_finite = Func("seen_finite");
    s.seen_finite(j) = 1;
    s.seen_finite(j) = select(has_finite_bits(bits_of(features, j)), s.seen_finite(j), 0);

    // The last dimension is a loop that does not run in other tasks.
    RDom keys(0, in.keys, 0, 1, "marked");
    keys.where(keys.y < s.cleaned());
    keys.where(s.seen_finite(keys.x) == 0);
    s.marked_key = keys.x;
    s.marked_turn = keys.y;
    // The stage computes with integers alone: arithmetic is compiled as if all numbers were finite.
    const Expr value = bits_of(d, keys.x), before = reinterpret<uint32_t>(s.out_copy(d, r, t));
    const Expr sum = select(has_finite_bits(before) || before == value, value, Expr(quiet_nan));
    Expr is_marked = !has_finite_bits(value) && visible_keys(in, s).sees(keys.x);
    if (in.is_general()) {
        Row row = row_of_task(in, t * z.row_tile + r);
        if (s.row_tokens.defined()) row = {s.row_tokens(r, t), s.row_heads(r, t)};
        is_marked = is_marked && !is_hidden(in, keys.x, row);
    }
    s.out_copy(d, r, t) = reinterpret<float>(select(is_marked, sum, before));
}

void Tiles::schedule_marks(int w) {
    s.out_copy.update()
        .reorder(s.d, s.r, s.marked_key, s.marked_turn, s.t)
        .vectorize(s.d, w, TailStrategy::GuardWithIf);
    s.seen_finite.compute_at(s.out_copy, s.marked_key).update().unscheduled();
    s.seen_rows.compute_at(s.out_copy, s.marked_key).bound_storage(s.d, s.sizes.v_head_dim);
    for (int update = 0; update < s.seen_rows.num_update_definitions(); update++)
        s.seen_rows.update(update).unscheduled();
}

} // namespace gyre::attention
