/// The two products of attention, and the forms of their operands that Sizes chooses: WHAT is computed.
#pragma once
#include "attention_algorithm.h"

namespace gyre::attention {

/// What both products take: from rows of queries, keys and values.
void define_operands(Stages &s, const Halide::Expr &scale);

/// s.scores: with tiles they have yet to be scaled.
void define_scores(Stages &s);

/// s.weights, s.block_sum and s.weighted, from s.masked and s.block_max. Keys after `tile_last_key` have no weight.
/// `v_scale` of key j of block b, if values have one; `magnitude` of the scale, if the scores have yet to be scaled.
void define_weighted_values(Stages &s, const Halide::Expr &v_scale, const Halide::Expr &tile_last_key,
                            const Halide::Expr &magnitude);

/// The same with both products on matrix tiles.
void define_tile_operands(Stages &s, const Halide::Expr &scale);
void define_tile_scores(Stages &s);
void define_tile_weighted_values(Stages &s, const Halide::Expr &tile_last_key, const Halide::Expr &magnitude);

} // namespace gyre::attention
