#include "algorithm.h"

#include "attention/recurrence/scores.h"
#include "math/storage.h"
#include "passes/cuda/carried.h"
#include "passes/cuda/primitives.h"
#include "passes/cuda/warp_nest.h"

namespace gyre::gradients {
using namespace Halide;
namespace {

constexpr float log2_of_e = 1.44269504088896f;
/// In general kernels, of what a row does not see: another than any weight, so that sums leave it out.
constexpr float masked_weight = attention::masked_score;
Expr is_masked(const Expr &weight) { return attention::is_masked(weight); }

/// A product of rows and columns over the features.
void define_product(Stages &s, Func &product, const std::string &name, const Func &rows, const Func &columns,
                    RVar *feature, RVar *tile) {
    RDom e(0, cuda::tile_depth, 0, s.sizes.head_dim / cuda::tile_depth, name + "_e");
    *feature = e.x;
    *tile = e.y;
    const Expr at = e.y * cuda::tile_depth + e.x;
    product = Func(name);
    product(s.j, s.i, s.t, s.b, s.h, s.z) = 0.0f;
    product(s.j, s.i, s.t, s.b, s.h, s.z) +=
        cast<float>(rows(at, s.i, s.t, s.h, s.z)) * cast<float>(columns(at, s.j, s.b, s.t, s.h, s.z));
}

/// Rows of the tile, in shared memory and then in fragments; and columns of a block.
void define_operands(Stages &s, const Inputs &in) {
    const Tile &tile = s.tile;
    const Expr row = tile.row_token(s.t, tile.existing_row(s.t, s.i));
    const Expr column = tile.column_token(tile.first_column(s.b, s.sizes.block) + s.j);
    const Expr head = tile.column_head(s.b);
    const auto define_rows = [&](Func &staged, Func &rows, const char *name, const Func &from) {
        staged = Func(std::string(name) + "_staged");
        rows = Func(std::string(name) + "_rows");
        staged(s.d, s.i, s.t, s.h, s.z) = from(s.d, s.h, row, s.z);
        rows(s.d, s.i, s.t, s.h, s.z) = staged(s.d, s.i, s.t, s.h, s.z);
    };
    const auto define_columns = [&](Func &columns, const char *name, const Func &from) {
        columns = Func(name);
        columns(s.d, s.j, s.b, s.t, s.h, s.z) = from(s.d, head, column, s.z);
    };
    define_rows(s.staged, s.rows, "own", in.row);
    if (s.sizes.has_prob_grads()) define_rows(s.partner_staged, s.partner_rows, "partner", in.row_partner);
    define_columns(s.columns, "columns", in.column);
    define_columns(s.partner_columns, "partner_columns", in.column_partner);
}

/// A row and a column as query and key.
Pair pair_of(const Stages &s, const Expr &row, const Expr &column) {
    const Tile &tile = s.tile;
    const Expr there = tile.existing_column(column), existing = tile.existing_row(s.t, row - tile.first_row(s.t));
    const Expr sequence = unsafe_promise_clamped(tile.sequence(s.t, s.z), 0, tile.in.sequences - 1);
    if (tile.in.of_keys) return {there, existing, tile.column_head(s.b), s.z, sequence, tile.distance(row, column)};
    return {existing, there, s.h, s.z, sequence, tile.distance(row, column)};
}

/// P, or dS, of the block's columns; 0 where a row does not see one, whatever that holds.
void define_weights(Stages &s, const Inputs &in, const Type &type) {
    const Tile &tile = s.tile;
    const Var &j = s.j, &i = s.i, &t = s.t, &b = s.b, &h = s.h, &z = s.z;
    const Expr row = tile.existing_row(t, i), first = tile.first_column(b, s.sizes.block);
    Expr power, delta;
    if (tile.in.of_keys) {
        const Expr token = tile.column_token(first + j), head = tile.column_head(b);
        s.column_lse = Func("column_lse");
        s.column_lse(j, b, t, h, z) = in.lse(token, head, z);
        power = s.column_lse(j, b, t, h, z) * log2_of_e;
        if (s.sizes.has_prob_grads()) {
            s.column_delta = Func("column_delta");
            s.column_delta(j, b, t, h, z) = in.delta(token, head, z);
            delta = s.column_delta(j, b, t, h, z);
        }
    } else {
        s.row_power = Func("row_power");
        s.row_delta = Func("row_delta");
        s.row_power(i, t, h, z) = in.lse(tile.row_token(t, row), h, z) * log2_of_e;
        s.row_delta(i, t, h, z) = in.delta(tile.row_token(t, row), h, z);
        power = s.row_power(i, t, h, z);
        delta = s.row_delta(i, t, h, z);
    }
    s.formed = Func("formed");
    s.weights = Func("weights");
    const Expr scaled = s.scores(j, i, t, b, h, z) * (in.scale * log2_of_e);
    const float nothing = s.sizes.general ? masked_weight : 0.0f;
    if (s.sizes.general) {
        const Score score = score_of(in.scoring, scaled, pair_of(s, tile.first_row(t) + i, first + j));
        const Expr probability = cuda::exp2_approx(score.value - power);
        Expr weight = score.kept * probability;
        if (s.sizes.has_prob_grads())
            weight = score.slope * (probability * (score.kept * s.prob_grads(j, i, t, b, h, z) - delta));
        s.formed(j, i, t, b, h, z) = cuda::opaque_select(score.masked, nothing, weight);
    } else {
        const Expr probability = cuda::exp2_approx(scaled - power);
        s.formed(j, i, t, b, h, z) =
            s.sizes.has_prob_grads() ? probability * (s.prob_grads(j, i, t, b, h, z) - delta) : probability;
    }
    RDom m(0, s.sizes.block, "m");
    s.masked_column = m;
    m.where(tile.at_edge(first, s.sizes.block));
    s.formed(m, i, t, b, h, z) =
        cuda::opaque_select(tile.sees(tile.first_row(t) + i, first + m), s.formed(m, i, t, b, h, z), nothing);
    Expr weight = s.formed(j, i, t, b, h, z);
    if (s.sizes.general) weight = cuda::opaque_select(is_masked(weight), 0.0f, weight);
    s.weights(j, i, t, b, h, z) = narrow(weight, type, Bf16::as_casts);
}

/// The sum over turns. Weights of columns that a row does not see are 0, and 0 times what is not finite is NaN: where there is both,
/// rows take only what they see. Of finite numbers the bits are the same.
void define_sum(Stages &s, const Inputs &in) {
    const Tile &tile = s.tile;
    const int block = s.sizes.block, features = s.sizes.head_dim;
    const Var &d = s.d, &i = s.i, &t = s.t, &b = s.b, &h = s.h, &z = s.z;
    const Expr first = tile.first_column(b, block);
    const auto corner = [&](const Expr &column) { return s.added()(0, column, b, t, h, z); };
    RDom f(0, 1, "flaws");
    const Expr at_edge = tile.at_edge(first, block);
    f.where(s.sizes.general ? at_edge || in.scoring.may_mask() : at_edge);
    s.flawed = Func("flawed");
    s.flawed(t, b, h, z) = 0;
    s.flawed(t, b, h, z) =
        cuda::any_not_finite(corner(f), corner(f + 1), block, features, s.sizes.rows / cuda::tile_rows);
    s.state = Func("state");
    s.summed = Func("summed");
    s.summed(d, i, t, b, h, z) = cuda::carried(s.state.name(), 0, Float(32), {d, i}, {features}, b);
    const auto add = [&](bool flawed, RVar *column, RVar *column_tile) {
        RDom u(0, cuda::tile_depth, 0, block / cuda::tile_depth, flawed ? "w" : "u");
        u.where(flawed ? s.flawed(t, b, h, z) != 0 : s.flawed(t, b, h, z) == 0);
        *column = u.x;
        *column_tile = u.y;
        const Expr of_block = u.y * cuda::tile_depth + u.x;
        const Expr weight = cast<float>(s.weights(of_block, i, t, b, h, z));
        const Expr value = cast<float>(s.added()(d, of_block, b, t, h, z));
        const Expr seen = s.sizes.general ? !is_masked(s.formed(of_block, i, t, b, h, z))
                                          : tile.sees(tile.first_row(t) + i, first + of_block);
        s.summed(d, i, t, b, h, z) += flawed ? cuda::product_of_seen(weight, value, seen) : weight * value;
    };
    add(false, &s.column, &s.column_tile);
    add(true, &s.seen_column, &s.seen_tile);
    const Expr heads = tile.in.of_keys ? tile.in.group : Expr(1);
    RDom blocks(0, (tile.in.columns + block - 1) / block * heads, "blocks");
    s.block = blocks;
    s.state(d, i, t, h, z) = Tuple(0.0f, 0.0f);
    s.state(d, i, t, h, z) = Tuple(s.summed(d, i, t, blocks, h, z), 0.0f);
}

/// Rows lie turned against each other in shared memory, by 8 features each, so that those which a warp stores at once are in different
/// banks.
void define_results(Stages &s, const Inputs &in) {
    const Tile &tile = s.tile;
    const int rows = s.sizes.rows, features = s.sizes.head_dim, runs = features / cuda::tile_columns;
    const Var &d = s.d, &h = s.h, &x = s.x, &z = s.z, &i = s.i, &t = s.t;
    const auto turned = [&](const Expr &feature, const Expr &row) {
        const Expr run = (feature / cuda::tile_columns + row) % runs;
        return unsafe_promise_clamped(run * cuda::tile_columns + feature % cuda::tile_columns, 0, features - 1);
    };
    const Expr sum = s.state(d, i, t, h, z)[0];
    s.out_rows = Func("out_rows");
    s.out_rows(d, i, t, h, z) =
        cuda::placed(s.sizes.has_prob_grads() ? sum * in.scale : sum, turned(d, i) - d, Internal::const_true());
    const Expr of = x / rows, row = tile.first_row(of) + x % rows;
    const Expr exists = row >= 0 && row < tile.row_count(of);
    const Expr distance = tile.first_row_token(of) + tile.first_row(of) - of * rows;
    s.out(d, h, x, z) =
        cuda::placed(s.out_rows(turned(d, x % rows), x % rows, of, h, z), distance * in.out_stride, exists);
}

} // namespace

Stages algorithm(const Inputs &in, const Sizes &sizes, const Func &out, const Type &type) {
    Stages s;
    s.sizes = sizes;
    s.out = out;
    s.tile = tile_of(in.sequences, sizes.rows, sizes.block, s.t, s.z, s.h);
    define_operands(s, in);
    define_product(s, s.scores, "scores", s.rows, s.columns, &s.score_feature, &s.score_tile);
    if (sizes.has_prob_grads())
        define_product(s, s.prob_grads, "prob_grads", s.partner_rows, s.partner_columns, &s.prob_feature, &s.prob_tile);
    define_weights(s, in, type);
    define_sum(s, in);
    define_results(s, in);
    return s;
}

} // namespace gyre::gradients
