/// The two products of attention, and the forms of their operands that Sizes chooses: WHAT is computed.
#pragma once
#include "attention/recurrence/blocks.h"

#include <functional>

namespace gyre::attention {

/// What both products take: from rows of queries, and with tiles of keys and values.
void define_query_operands(Stages &s, const Halide::Expr &scale);
void define_tile_keys_and_values(Stages &s);

/// s.scores: with tiles they have yet to be scaled by `scale`.
void define_scores(Stages &s, const Halide::Expr &scale);

/// s.weights, s.block_sum and s.weighted, from s.masked and s.block_max. Keys after the last visible one have no weight.
/// With dropout, some of the others have none for s.weighted either.
void define_weighted_values(Stages &s, const Inputs &in, const Visible &visible);

/// Scores of keys in int8 by products of integers.
void define_integer_query_operands(Stages &s);
void define_integer_scores(Stages &s, const Halide::Expr &scale);

/// The same with matrices of bf16 in vector registers.
void define_matrix_queries(Stages &s);
void define_matrix_keys_and_values(Stages &s);
void define_matrix_scores(Stages &s, const Halide::Expr &scale);
void define_matrix_weighted_values(Stages &s, const Visible &visible);

/// What a key's weight for row s.r is where weights are summed, and where they multiply values.
struct PairWeights {
    std::function<Halide::Expr(const Halide::Expr &key)> of_sum, of_value;
};

/// These define both products and their operands on pairs of bf16 in vector registers (Sizes::pairs).
void define_pair_queries(Stages &s);
void define_pair_keys_and_values(Stages &s);
void define_pair_scores(Stages &s, const Halide::Expr &scale);
void define_pair_weighted_values(Stages &s, const Visible &visible, const PairWeights &weight);

/// The same with both products on matrix tiles.
void define_tile_query_operands(Stages &s, const Halide::Expr &scale);
void define_tile_scores(Stages &s);
void define_tile_weighted_values(Stages &s, const Visible &visible, const Halide::Expr &magnitude);

/// Keys and values that tiles are loaded from where they are (Sizes::value_blocks).
void define_stored_tile_operands(Stages &s, const Inputs &in);
/// The same, formed for this before (Sizes::formed).
void define_formed_tile_operands(Stages &s, const Inputs &in);

} // namespace gyre::attention
