// Where a block's keys and values are packed for matrix tiles, or copied.
#include "passes/instructions/tile_products.h"
#include "tiles.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int cache_line_pairs = 16, cache_line_bf16 = 32; // elements

} // namespace

/// Keys, and values transposed, of a block.
void Tiles::schedule_packed_operands(int w) {
    const Sizes &z = s.sizes;
    Func &k_rows = s.operands.k_rows, &v_rows = s.operands.v_rows;
    Var ji("ji");
    s.v_packed.bound_storage(s.b, 1);

    const int rotated_lanes = facts.terms == 1 ? tile_depth : w; // rounding takes two vectors at once
    const auto schedule_rows = [&](const Func &rows, const RotatedRows &rotated) {
        if (facts.counts_features)
            schedule_rotated_rows(rows, rotated, rotated_lanes);
        else
            schedule_rotated_rows(rows, rotated, rotated_lanes, tile_depth);
    };

    // Keys, and values transposed; rows a cache line longer than they need be, so that a tile's do not share the sets
    // of the L1 cache.
    Func &keys = facts.in_place ? s.k_copied : k_rows;
    keys.compute_at(s.state, s.block)
        .bound_storage(s.b, 1)
        .bound_storage(s.j, z.key_block)
        .bound_storage(s.d, z.head_dim + cache_line_bf16);
    if (facts.in_place)
        keys.vectorize(s.d, tile_depth).unroll(s.d);
    else
        schedule_rows(k_rows, s.operands.k_rotated);
    if (s.k_terms.defined())
        s.k_terms.compute_at(s.state, s.block)
            .bound_storage(s.b, 1)
            .bound_storage(s.j, z.key_block)
            .bound_storage(s.d, z.head_dim + cache_line_bf16)
            .bound(s.p, 0, facts.terms)
            .reorder(s.d, s.p, s.j)
            .vectorize(s.d, tile_depth)
            .unroll(s.p);
    if (facts.weighs_rows) { // pairs of rows, features along the vectors: nothing is transposed
        const Var pair = s.v_packed.args()[1];
        s.v_packed.compute_at(s.state, s.block)
            .bound_storage(pair, z.key_block / 2)
            .bound_storage(s.d, z.v_head_dim)
            .bound(s.d, 0, z.v_head_dim)
            .bound(pair, 0, z.key_block / 2)
            .bound(s.p, 0, facts.terms)
            .split(pair, packed_tile, ji, w)
            .reorder(s.d, ji, s.p, packed_tile)
            .vectorize(s.d, w)
            .unroll(s.d);
        s.v_packed.update(0)
            .allow_race_conditions()
            .reorder(s.cleaned_feature, pair, s.p, s.cleaned_turn)
            .vectorize(s.cleaned_feature, w);
        if (facts.in_place) return;
        v_rows.compute_at(s.v_packed, packed_tile);
        schedule_rows(v_rows, s.operands.v_rotated);
        return;
    }
    const Var vc = s.v_packed.args()[0];
    const int features = z.v_head_dim + (has_ones() ? tile_rows : 0);
    s.v_packed.compute_at(s.state, s.block)
        .bound_storage(vc, z.key_block / 2 + cache_line_pairs)
        .bound_storage(s.d, features)
        .bound(s.d, 0, features)
        .bound(vc, 0, z.key_block / 2)
        .bound(s.p, 0, facts.terms);
    s.v_packed.update(1).reorder(vc, s.cleaned_feature, s.v_packed.args()[2], s.cleaned_turn).vectorize(vc, w);
    if (has_ones()) s.v_packed.update(2).vectorize(vc, w);
    s.v_packed.update(0)
        .split(vc, packed_tile, ji, w)
        .reorder(ji, s.v_feature, s.p, s.v_features_together, packed_tile)
        .vectorize(ji)
        .unroll(s.v_feature)
        .unroll(s.p);
    schedule_transpose(s.v_lanes, {s.v_packed, s.p});
    v_rows.compute_at(s.v_packed, packed_tile);
    if (facts.counts_features) v_rows.bound_storage(s.d, z.v_head_dim);
    schedule_rows(v_rows, s.operands.v_rotated);
}

/// Copies the operands of a block that tiles cannot take in place.
void Tiles::schedule_stored_operands() {
    s.operands.v_ones.compute_root().bound_storage(s.j, tile_depth / 2).vectorize(s.j, tile_columns);
    if (!s.v_copied.defined()) return;
    s.first_copied.compute_at(s.state, s.block).bound_storage(s.b, 1);
    s.v_copied.compute_at(s.weighted, s.copied_step)
        .bound_storage(s.b, 1)
        .bound_extent(s.j, tile_depth)
        .vectorize(s.j, tile_depth);
}

} // namespace gyre::attention
