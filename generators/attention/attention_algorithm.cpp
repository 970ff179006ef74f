#include "attention_algorithm.h"

#include "common/stored_rows.h"
#include "math/transcendental.h"
#include "recurrence/blocks.h"
#include "recurrence/features.h"
#include "recurrence/rows.h"
#include "recurrence/scores.h"

namespace gyre::attention {
using namespace Halide;
namespace {

struct Ending {
    Expr inverse, lse; // of a row's sum
};

/// What row r of row tile t ends with. A sink joins the denominator as one more key without a value.
Ending ending(const RecurrenceEngine &engine, const Inputs &in, const Expr &r, const Expr &t) {
    const Stages &s = engine.shared();
    const FuncRef end = s.state(r, t, 0);
    const int chunk = s.sizes.feature_chunk;
    const Expr sum = end[chunk + 1];
    // Bits are compared, because f32 arithmetic is compiled as if there were no NaN. Masked keys add exactly 0.
    const Expr magnitude_bits = reinterpret<uint32_t>(sum) & Expr(0x7fffffffu);
    const Expr undefined = magnitude_bits > Expr(0x7f800000u), any_visible = magnitude_bits != Expr(0u);
    const Expr maximum = engine.in_log2(in, end[chunk]);
    const Expr nothing = reinterpret<float>(Expr(0xff800000u)); // -inf, which arithmetic may not produce
    const auto kept = [&](const Expr &inverse) { return in.drops() ? inverse * in.dropout.keep_scale : inverse; };
    if (!in.sinks.defined())
        return {kept(select(any_visible, 1.0f / sum, 0.0f)),
                select(undefined, sum, any_visible, maximum * ln_2 + log_positive(sum), nothing)};
    const Expr sink = s.row_sinks.defined() ? Expr(s.row_sinks(r, t)) : in.sinks(0), top = max(maximum, sink);
    constexpr float least_share = -126; // its power is not 0, so that NaN in values shows, however large the sink
    const Expr keys_share = exp2_nonpositive(maximum - top, least_share);
    const Expr total = sum * keys_share + exp2_nonpositive(sink - top);
    return {kept(select(any_visible, keys_share / total, 0.0f)),
            select(undefined, sum, any_visible, top * ln_2 + log_positive(total), nothing)};
}

/// Finds once a task which token of which head each row is, where rows are tokens of several heads.
Row define_rows_of_heads(Stages &s, const Inputs &in, const Row &row) {
    s.row_tokens = Func("row_tokens");
    s.row_heads = Func("row_heads");
    s.row_tokens(s.r, s.t) = row.token;
    s.row_heads(s.r, s.t) = row.head;
    if (in.sinks.defined()) {
        s.row_sinks = Func("row_sinks");
        s.row_sinks(s.r, s.t) = in.sinks(s.row_heads(s.r, s.t));
    }
    return {s.row_tokens(s.r, s.t), s.row_heads(s.r, s.t)};
}

struct Place {
    Expr tile, row; // of its row tiles, and in it
};

/// Where row `row` of a task is, in row tiles of some whole vectors that are told at run time: a division by each of these numbers costs less than
/// one by a number that the compiler does not know.
Place place_of_row(const Stages &s, const Expr &row) {
    const Sizes &z = s.sizes;
    if (!s.tile_rows.defined()) return {row / z.row_tile, row % z.row_tile};
    Expr tile = row / z.row_tile;
    for (int rows = z.row_tile - z.lanes; rows > 0; rows -= z.lanes)
        tile = select(s.tile_rows == rows, row / rows, tile);
    tile = unsafe_promise_clamped(tile, 0, s.tiles - 1);
    return {tile, unsafe_promise_clamped(row - tile * s.tile_rows, 0, z.row_tile - 1)};
}

/// Rows of queries, once a task.
void define_queries(RecurrenceEngine &engine, const Inputs &in) {
    Stages &s = engine.stages();
    const Sizes &z = s.sizes;
    Row row = row_of_task(in, s.first_row() + s.r);
    if (!Internal::is_const_one(in.heads)) row = define_rows_of_heads(s, in, row);
    const auto query = [&](const Expr &feature) { return in.q(feature, row.head, row.token); };
    s.q_rows = Func("q_rows");
    const bool exact = z.padded && !engine.pads_queries();
    RowForm form{z.head_dim, z.padded && !exact};
    form.count = exact ? in.head_dim : s.k_features;
    form.factor = engine.query_factor(in);
    form.as_bits = engine.rounds_queries();
    s.q_rotated = define_rows(s.q_rows, {query, in.head_dim, row.token, in.q_rotation}, {s.d, s.r, s.t}, form);
    engine.define_queries(in);
}

void define_state(RecurrenceEngine &engine, const Inputs &in) {
    Stages &s = engine.stages();
    const int chunk = s.sizes.feature_chunk;
    std::vector<Expr> initial(chunk + 2, Expr(engine.layout().nothing()));
    initial[chunk] = least_score;
    const std::vector<Expr> undefined(chunk + 2, undef<float>());
    s.state = Func("state");
    s.state(s.r, s.t, s.e) = Tuple(engine.begins_with_block() ? undefined : initial);
    engine.fold(in);
    if (engine.may_see_no_block()) clear_unseeing_tiles(s, in, initial);
}

} // namespace

void algorithm(RecurrenceEngine &engine, const Inputs &in, const Func &out, const Func &lse, const Type &type) {
    Stages &s = engine.stages();
    const Sizes &z = s.sizes;
    s.out = out;
    s.lse = lse;
    const Var &i = s.i, &h = s.h, &r = s.r, &t = s.t, &d = s.d;
    const bool counted = z.padded && engine.counts_features();
    const auto in_steps = [&](int step, const Expr &of_call, int most) {
        return counted ? features_in_steps(step, of_call, most) : Expr(most);
    };
    s.k_features = in_steps(z.feature_step, in.head_dim, z.head_dim);
    s.v_features = in_steps(z.feature_step, in.v_head_dim, z.v_head_dim);
    s.value_chunks = in_steps(z.value_step, in.v_head_dim, z.v_head_dim) / z.feature_chunk;
    s.tile_rows = in.tile_rows;
    if (s.tile_rows.defined()) s.tiles = (in.rows + s.tile_rows - 1) / s.tile_rows;
    define_queries(engine, in);
    define_state(engine, in);

    s.inverse_sum = Func("inverse_sum");
    s.inverse_sum(r, t) = ending(engine, in, r, t).inverse;
    const bool one_tile = in.is_one_tile(z.task_tiles);
    const Expr out_row = i * in.heads + h;
    const Place place = place_of_row(s, out_row);
    const Expr tile_of_row = one_tile ? Expr(0) : place.tile;
    const Expr row_of_tile = one_tile ? unsafe_promise_clamped(out_row, 0, z.row_tile - 1) : place.row;
    s.row_lse = Func("row_lse");
    s.row_lse(r, t) = ending(engine, in, r, t).lse;
    s.lse(i, h) = s.row_lse(row_of_tile, tile_of_row);

    const StateLayout &layout = engine.layout();
    // Copies of results take whole steps, of which products may form less.
    const Expr formed = counted && z.value_step < z.feature_step ? s.value_chunks : Expr();
    s.normalised = Func("normalised");
    s.normalised(r, d, t) = layout.normalised(layout.sum(s.state, z, {r, t, d, formed}), s.inverse_sum(r, t));
    s.out_rows = transpose(s.normalised, z.lanes, "out_rows", true);
    s.out_copy = Func("out_copy");
    s.out_copy(d, r, t) = s.out_rows.out(d, r, t);
    engine.mend_results(in);
    RowElements finished;
    finished.source = [&](const Expr &feature) {
        return s.out_copy(engine.provider->place(s, in, feature), row_of_tile, tile_of_row);
    };
    finished.stored = [&](const Expr &value) { return narrow(value, type, engine.rounding()); };
    finished.copied = [&](const Expr &feature) { return finished.stored(finished.source(feature)); };
    const Expr features = z.padded ? in.v_head_dim : Expr(z.v_head_dim);
    s.out_rotated = rotate(s.out, {d, h, i}, i, features, z.v_head_dim, in.out_rotation, finished);
}

} // namespace gyre::attention
