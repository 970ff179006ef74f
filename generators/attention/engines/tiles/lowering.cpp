#include "attention/attention_schedules.h"
#include "attention/recurrence/blocks.h"
#include "passes/bf16_roundings.h"
#include "passes/exp2_pairs.h"
#include "passes/loop_limits.h"
#include "passes/step_pipeline.h"
#include "passes/tile_products.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// Of a block, the keys that there are, in whole steps of tile_depth keys: the last ones of a step repeat the last key, and
/// what is left out further on has no weight.
void end_blocks_early(Internal::GeneratorBase &generator, const Stages &s, const Knobs &k, const Expr &keys,
                      const std::string &blocks) {
    const auto turns = [&](int keys_a_turn) {
        return [=, block = s.sizes.key_block](const Expr &b) {
            const Expr steps = (keys - b * block + tile_depth - 1) / tile_depth;
            return (steps * tile_depth + keys_a_turn - 1) / keys_a_turn;
        };
    };
    if (!s.sizes.value_blocks && !s.sizes.formed) {
        end_loop_early(generator, s.k_rows, "j", blocks, turns(1));
        if (s.k_terms.defined()) end_loop_early(generator, s.k_terms, "j", blocks, turns(1));
        end_loop_early(generator, s.v_packed, "jo", blocks, turns(tile_depth));
    }
    if (!s.sizes.bounded) end_loop_early(generator, s.masked, "jo", blocks, turns(k.key_unroll));
}

} // namespace

void lower_tiles(Internal::GeneratorBase &generator, const Stages &s, const Knobs &k, const Expr &keys) {
    end_blocks_early(generator, s, k, keys, blocks_loop);
    if (s.exact) {
        end_blocks_early(generator, *s.exact, k, keys, exact_blocks_loop);
        guard_loop(generator, exact_blocks_loop, s.any_exact);
    }
    map_tile_products(generator);
    if (s.sizes.sum_with_values && !s.sizes.value_blocks) pipeline_steps(generator, s.weighted, "keys");
    if (s.exact && s.sizes.sum_with_values) pipeline_steps(generator, s.exact->weighted, "keys");
    if (s.sizes.bounded && !s.sizes.sum_with_values) pipeline_steps(generator, s.weights, "steps");
    map_exp2_pairs(generator);
    map_bf16_roundings(generator);
}

} // namespace gyre::attention
