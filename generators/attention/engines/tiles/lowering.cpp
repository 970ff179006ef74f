#include "passes/instructions/bf16_roundings.h"
#include "passes/instructions/exp2_pairs.h"
#include "passes/instructions/neighbour_pairs.h"
#include "passes/instructions/tile_products.h"
#include "passes/loop_name.h"
#include "passes/memory/masked_tails.h"
#include "passes/order/held_tiles.h"
#include "passes/order/loop_limits.h"
#include "passes/order/step_pipeline.h"
#include "tiles.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;

// Loops over a block end with the last key that exists, in whole steps of tile_depth keys. The last slots of a step repeat that
// key, and what is left out further on has no weight.
void Tiles::end_blocks_early(const Lowering &lowering) const {
    const auto end_early = [&](const Func &of, const Var &loop, int keys_a_turn) {
        const Expr in_pages = s.k_copied.defined() && of.name() == s.k_copied.name() ? pages : Expr();
        end_loop_early(lowering.generator, of, loop.name(), loop_of(s.block),
                       [=, keys = lowering.key_count, block = s.sizes.key_block](const Expr &b) {
                           const Expr steps = (keys - b * block + tile_depth - 1) / tile_depth;
                           const Expr turns = (steps * tile_depth + keys_a_turn - 1) / keys_a_turn;
                           if (!in_pages.defined()) return turns;
                           return select(in_pages == 1 && b * block + block <= keys, 0, turns);
                       });
    };
    if (!provider->has_value_blocks()) {
        for (const Func &offsets : {s.operands.k_offsets, s.operands.v_offsets}) end_early(offsets, s.j, k.lanes);
        end_early(facts.in_place ? s.k_copied : s.operands.k_rows, s.j, 1);
        if (s.k_terms.defined()) end_early(s.k_terms, s.j, 1);
        end_early(s.v_packed, packed_tile, tile_depth);
    }
    if (bounded) return;
    if (!weighs_by_step()) end_early(s.weights, s.step, tile_depth);
    if (facts.weighs_rows) end_early(s.weight_rows, s.step, tile_depth);
}

// Where the accumulators of a whole head fit the tile registers, and else where scores are bounded.
void Tiles::pipeline(const Lowering &lowering) const {
    if (weighs_by_step()) {
        pipeline_steps(lowering.generator, s.weighted, loop_of(s.value_step));
        if (bounded) hold_queries(lowering, s.weighted, loop_of(s.value_step), s.sizes.v_head_dim / tile_rows);
    } else if (bounded && !facts.sum_with_values) {
        pipeline_steps(lowering.generator, s.weights, loop_of(s.weight_step));
        hold_queries(lowering, s.weights, loop_of(s.weight_step), 0);
    }
}

/// Queries stay in the tile registers that `accumulators` of the loop, scores and operands leave.
void Tiles::hold_queries(const Lowering &lowering, const Func &of, const std::string &loop, int accumulators) const {
    if (facts.counts_features) return; // which tiles there are is known at run time
    const int scores = k.row_vectors * std::min(k.key_unroll, tile_depth) / tile_rows;
    const int queries = k.row_vectors * s.sizes.head_dim / tile_depth;
    // A product of scores takes a tile of keys, and one of queries unless all are held. One of weights takes two where scores were.
    const int left = tile_registers - accumulators - scores - 1;
    hold_tiles(lowering.generator, of, loop, queries <= left ? queries : std::max(left - 1, 0));
}

void Tiles::lower(const Lowering &lowering) const {
    end_blocks_early(lowering);
    if (exact) {
        exact->end_blocks_early(lowering);
        guard_loop(lowering.generator, loop_of(s.block), s.any_bounded);
        guard_loop(lowering.generator, loop_of(exact->s.block), s.any_exact);
    }
    if (s.seen_finite.defined()) guard_loop(lowering.generator, loop_of(s.marked_turn), s.cleaned);
    if (s.sizes.padded) mask_tails(lowering.generator, 8);
    if (facts.terms == 1) map_neighbour_pairs(lowering.generator);
    map_tile_products(lowering.generator);
    pipeline(lowering);
    if (exact) exact->pipeline(lowering);
    map_exp2_pairs(lowering.generator);
    map_bf16_roundings(lowering.generator);
}

} // namespace gyre::attention
