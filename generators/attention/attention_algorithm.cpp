#include "attention_algorithm.h"

#include "attention/engines/key_lanes/products.h"
#include "attention/engines/tiles/bound.h"
#include "attention/engines/tiles/guard.h"
#include "attention/engines/vectors/products.h"
#include "attention/recurrence/blocks.h"
#include "attention/recurrence/rows.h"
#include "common/stored_rows.h"
#include "math/storage.h"
#include "math/transcendental.h"

namespace gyre::attention {
using namespace Halide;

Expr is_masked(const Expr &score) { return reinterpret<uint32_t>(score) == reinterpret<uint32_t>(Expr(masked_score)); }

Stages algorithm(const Inputs &in, const Sizes &sizes, const Func &out, const Func &lse, const Type &type) {
    const Sizes &z = sizes;
    Stages s;
    s.sizes = z;
    s.out = out;
    s.lse = lse;
    const Var &i = s.i, &h = s.h, &r = s.r, &t = s.t, &d = s.d, &e = s.e;
    const int chunk = z.feature_chunk, chunks = z.v_head_dim / chunk;

    // Queries, once a task.
    const Row row = row_of_task(in, t * z.row_tile + r);
    const auto query = [&](const Expr &feature) { return in.q(feature, row.head, row.token); };
    s.q_rows = Func("q_rows");
    RowForm query_form{z.head_dim, z.padded};
    if (z.scaled_rows) query_form.factor = in.scale;
    s.q_rotated = define_rows(s.q_rows, {query, in.head_dim, row.token, in.q_rotation}, {d, r, t}, query_form);
    if (!Internal::is_const_one(in.heads)) {
        s.row_tokens = Func("row_tokens");
        s.row_tokens(r, t) = row.token;
    }
    define_query_operands(s, in.scale);
    const bool may_be_cleaned = z.tile_depth > 0 && !z.formed; // what is formed is finite
    if (may_be_cleaned) define_cleaned(s, in);

    // Sums that begin with -0 are the same but for the sign of 0, and compilers do not turn its storing into scalar code.
    std::vector<Expr> initial(chunk + 2, Expr(z.lanes_along_features ? -0.0f : 0.0f));
    initial[chunk] = least_score;
    s.state = Func("state");
    s.state(r, t, e) = Tuple(initial);
    if (z.bounded) {
        define_bound(s, in);
        s.exact = std::make_shared<Stages>(s);
        s.exact->sizes.bounded = false;
        fold_blocks(s, in, blocks_loop, s.is_bounded(t) != 0);
        fold_blocks(*s.exact, in, exact_blocks_loop, s.is_bounded(t) < s.any_exact());
    } else {
        fold_blocks(s, in, blocks_loop, Internal::const_true());
    }

    // The epilogue. A sink joins the denominator as one more key without a value.
    const auto finish = [&](const Expr &rr, const Expr &tt) {
        struct {
            Expr inverse, lse;
        } f;
        const FuncRef end = s.state(rr, tt, 0);
        const Expr sum = end[chunk + 1];
        // As bits, because f32 arithmetic is compiled as if there were no NaN. Masked keys add exactly 0.
        const Expr magnitude_bits = reinterpret<uint32_t>(sum) & Expr(0x7fffffffu);
        const Expr undefined = magnitude_bits > Expr(0x7f800000u), any_visible = magnitude_bits != Expr(0u);
        const Expr maximum = z.tile_depth > 0 ? end[chunk] * magnitude_of(in.scale) : Expr(end[chunk]);
        const Expr nothing = reinterpret<float>(Expr(0xff800000u)); // -inf, which arithmetic may not produce
        if (!in.sinks.defined()) {
            f.inverse = select(any_visible, 1.0f / sum, 0.0f);
            f.lse = select(undefined, sum, any_visible, maximum * ln_2 + log_positive(sum), nothing);
        } else {
            const Expr sink = in.sinks(row_of_task(in, tt * z.row_tile + rr).head), top = max(maximum, sink);
            constexpr float least_share =
                -126; // its power is not 0, so that NaN in values shows, however large the sink
            const Expr keys_share = exp2_nonpositive(maximum - top, least_share);
            const Expr total = sum * keys_share + exp2_nonpositive(sink - top);
            f.inverse = select(any_visible, keys_share / total, 0.0f);
            if (z.dropout) f.inverse = f.inverse * in.dropout.keep_scale;
            f.lse = select(undefined, sum, any_visible, top * ln_2 + log_positive(total), nothing);
        }
        return f;
    };
    s.inverse_sum = Func("inverse_sum");
    s.inverse_sum(r, t) = finish(r, t).inverse;
    const Expr out_row = i * in.heads + h;
    const Expr tile_of_row = z.one_tile ? Expr(0) : out_row / z.row_tile;
    const Expr row_of_tile = z.one_tile ? unsafe_promise_clamped(out_row, 0, z.row_tile - 1) : out_row % z.row_tile;
    s.row_lse = Func("row_lse");
    s.row_lse(r, t) = finish(r, t).lse;
    s.lse(i, h) = s.row_lse(row_of_tile, tile_of_row);

    std::vector<Expr> accumulators;
    const Expr chunk_of_d = z.lanes_along_features ? d % chunks : d / chunk;
    const Expr place_in_chunk = z.lanes_along_features ? d / chunks : d % chunk;
    for (int c = 0; c < chunk; c++) accumulators.push_back(s.state(r, t, chunk_of_d)[c]);
    s.normalised = Func("normalised");
    // Where nothing is visible the accumulators hold whatever masked values were, NaNs included.
    const Expr inverse = s.inverse_sum(r, t), value = mux(place_in_chunk, accumulators) * inverse;
    if (z.lanes_along_features) { // the same by bits, without a branch for each vector
        const Expr mask = select(reinterpret<uint32_t>(inverse) != Expr(0u), Expr(~0u), Expr(0u));
        s.normalised(r, d, t) = reinterpret<float>(reinterpret<uint32_t>(value) & mask);
    } else {
        s.normalised(r, d, t) = select(inverse != 0.0f, value, 0.0f);
    }
    s.out_rows = transpose(s.normalised, z.lanes, "out_rows");
    s.out_copy = Func("out_copy");
    s.out_copy(d, r, t) = s.out_rows.out(d, r, t);
    if (may_be_cleaned) define_marks(s, in);
    RowElements finished;
    finished.source = [&](const Expr &feature) {
        const Expr place = z.key_lanes && z.padded ? place_in_whole_vectors(s, in, feature) : feature;
        return s.out_copy(place, row_of_tile, tile_of_row);
    };
    finished.stored = [&](const Expr &value) {
        return narrow(value, type,
                      z.tile_depth > 0 || z.matrices || z.pairs ? Bf16::by_instruction : Bf16::as_integers);
    };
    finished.copied = [&](const Expr &feature) { return finished.stored(finished.source(feature)); };
    s.out_rotated = rotate(s.out, {d, h, i}, i, in.v_head_dim, z.v_head_dim, in.out_rotation, finished);
    return s;
}

} // namespace gyre::attention
