#include "../common/tile_products.h"
#include "attention_schedules.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int cache_line_pairs = 16, cache_line_bf16 = 32; // elements

void check_tile_knobs(const Sizes &z, const Knobs &k) {
    const auto check = [](const char *name, int value, int divisor) {
        _halide_user_assert(value % divisor == 0)
            << name << " is " << value << ", expected a multiple of " << divisor << ", for matrix tiles\n";
    };
    check("lanes", k.lanes, tile_columns);
    check("head_dim", z.head_dim, tile_depth);
    check("key_block", z.key_block, tile_depth);
    check("key_unroll", k.key_unroll, tile_rows);
    check("key_block", z.key_block, k.key_unroll);
    check("feature_chunk", z.feature_chunk, tile_rows);
    check("head_dim", z.v_head_dim, z.feature_chunk);
    _halide_user_assert(z.fold == 0) << "fold is " << z.fold << ", expected 0 for matrix tiles\n";
    _halide_user_assert(k.key_vector == 1) << "key_vector is " << k.key_vector << ", expected 1 for matrix tiles\n";
    _halide_user_assert(k.lanes == tile_columns) << "lanes is " << k.lanes << ", expected " << tile_columns << "\n";
}

/// The loops of a block of tiles: rows along `rows`, columns along `columns`; all tiles unrolled.
struct TileLoops {
    Var row{tile_row_loop}, column{tile_column_loop}, rows{"tiles_down"}, columns{"tiles_across"};
    RVar depth{tile_depth_loop};

    Stage split(Stage stage, const Var &along_rows, const Var &along_columns) const {
        return stage.split(along_rows, rows, row, tile_rows, TailStrategy::RoundUp)
            .split(along_columns, columns, column, tile_columns, TailStrategy::RoundUp)
            .reorder(column, row, columns, rows)
            .unroll(columns)
            .unroll(rows);
    }
};

/// A product of weights over the keys of a block: accumulated in tiles, then stored.
void schedule_weighted(Func product, const RVar &key, const RVar &of_terms, const RVar &step, const LoopLevel &at,
                       const TileLoops &loops, const Stages &s) {
    Func stored = product.in();
    stored.compute_at(at).store_in(MemoryType::Stack).bound_storage(s.b, 1);
    loops.split(stored, s.d, s.r);
    product.compute_at(at).store_in(MemoryType::Stack).bound_storage(s.b, 1);
    loops.split(product, s.d, s.r);
    loops.split(product.update(), s.d, s.r)
        .rename(key, loops.depth)
        .reorder(loops.depth, loops.column, loops.row, loops.columns, loops.rows, of_terms, step);
}

} // namespace

// A product also takes a tile of each operand.
bool holds_whole_head(int v_head_dim, const Knobs &k) {
    constexpr int tile_registers = 8;
    return k.row_vectors == 1 && v_head_dim / tile_rows + 1 + 2 <= tile_registers;
}

// One task owns a few row tiles of one head, as on vector units. Rows of the scores are keys and columns are queries, so
// keys are taken as they are stored, and the softmax stays a matter of whole vectors of queries. Values are transposed
// once a block and task. Each product keeps a block of tiles in registers, key_unroll or feature_chunk rows of
// row_vectors tiles.
void schedule_amx(Stages &s, const Knobs &k) {
    check_tile_knobs(s.sizes, k);
    const Sizes &z = s.sizes;
    const int w = k.lanes, tile = k.row_vectors * w;
    const TileLoops loops;
    Var ro("ro"), ri("ri"), jo("jo"), ji("ji");

    const TaskLoops task;
    Stage recurrence = schedule_task(s, k, task);
    recurrence.unroll(s.e);
    if (z.sum_with_values) recurrence.reorder(s.e, task.register_tile);
    s.q_scaled.bound_storage(s.q_scaled.args()[1], z.head_dim / 2).bound(s.p, 0, z.terms).unroll(s.p);
    for (Func *one_block : {&s.k_rows, &s.v_packed}) one_block->bound_storage(one_block->args().back(), 1);

    // Keys, and values transposed; rows a cache line longer than they need be, so that a tile's do not share the sets
    // of the L1 cache.
    s.k_rows.compute_at(s.state, s.block)
        .bound_storage(s.j, z.key_block)
        .bound_storage(s.d, z.head_dim + cache_line_bf16);
    schedule_rotated_rows(s.k_rows, s.k_rotated, s.d, w, tile_depth);
    if (s.k_terms.defined())
        s.k_terms.compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.j, z.key_block)
            .bound_storage(s.d, z.head_dim + cache_line_bf16)
            .bound(s.p, 0, z.terms)
            .reorder(s.d, s.p, s.j)
            .vectorize(s.d, tile_depth)
            .unroll(s.p);
    const Var vc = s.v_packed.args()[0];
    s.v_packed.compute_at(s.state, s.block)
        .bound_storage(vc, z.key_block / 2 + cache_line_pairs)
        .bound_storage(s.d, z.v_head_dim + tile_rows)
        .bound(s.d, 0, z.v_head_dim + tile_rows)
        .bound(vc, 0, z.key_block / 2)
        .bound(s.p, 0, z.terms)
        .vectorize(vc, w);
    RVar fb("fb"), fi("fi");
    s.v_packed.update()
        .split(vc, jo, ji, w)
        .split(s.v_feature, fb, fi, w)
        .reorder(ji, fi, s.p, fb, jo)
        .vectorize(ji)
        .unroll(fi)
        .unroll(s.p);
    schedule_transpose(s.v_lanes, {s.v_packed, s.p});
    s.v_rows.compute_at(s.v_packed, jo);
    schedule_rotated_rows(s.v_rows, s.v_rotated, s.d, w, tile_depth);

    // Scores, maximum and weights of one row tile and one block.
    s.masked.compute_at(s.state, s.t)
        .bound_storage(s.j, z.key_block)
        .tile(s.r, s.j, ro, jo, ri, ji, tile, k.key_unroll, TailStrategy::RoundUp)
        .reorder(ri, ji, ro, jo);
    loops.split(s.masked, ji, ri);
    s.scores.compute_at(s.masked, ro).store_in(MemoryType::Stack);
    loops.split(s.scores, s.j, s.r);
    RVar fo("fo");
    loops.split(s.scores.update(), s.j, s.r)
        .split(s.feature, fo, loops.depth, tile_depth)
        .reorder(loops.depth, loops.column, loops.row, loops.columns, loops.rows, fo, s.score_product)
        .unroll(fo);
    s.masked.update().vectorize(s.r, w);

    s.block_max.compute_at(s.state, s.t).vectorize(s.r, w).unroll(s.r);
    s.block_max.update().reorder(s.r, s.max_j).vectorize(s.r, w).unroll(s.r);
    // Where the accumulators of a whole head fit the tile registers, a step's weights are formed right before the
    // product that takes them, which then runs beside the forming of the next step's.
    if (z.sum_with_values) {
        schedule_weighted(s.weighted, s.value_j, s.value_product, s.value_step, {s.state, task.register_tile}, loops,
                          s);
        s.weights.compute_at(s.weighted, s.value_step).bound_storage(s.weights.args()[1], tile_depth / 2);
        s.weights.store_in(MemoryType::Stack);
    } else {
        schedule_weighted(s.weighted, s.value_j, s.value_product, s.value_step, {s.state, task.register_tile}, loops,
                          s);
        schedule_weighted(s.sums, s.sum_j, s.sum_product, s.sum_step, {s.state, s.t}, loops, s);
        s.weights.compute_at(s.state, s.t).bound_storage(s.weights.args()[1], z.key_block / 2);
    }
    s.weights.bound(s.p, 0, z.terms).reorder(s.r, s.p, s.weights.args()[1]).vectorize(s.r, w).unroll(s.r).unroll(s.p);
}

} // namespace gyre::attention
