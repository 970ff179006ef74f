/// The stage of fused attention that calls a user's score function: WHAT is computed.
#pragma once
#include "attention/attention_algorithm.h"

namespace gyre::attention {

/// Appends to `s.masked` the update S_ij = score(S_ij, i, j) for keys up to `tile_last_key`, and defines the parts that
/// the function wants kept. Scores of `masked` or less, -inf too, become masked_score.
void define_score(Stages &s, const Inputs &in, const Halide::Expr &tile_last_key);

} // namespace gyre::attention
