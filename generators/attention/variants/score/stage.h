/// The stage of fused attention that calls a user's score function.
#pragma once
#include "attention/recurrence/inputs.h"
#include "attention/recurrence/stages.h"

namespace gyre::attention {

/// Appends to `s.masked` the update S_ij = score(S_ij, i, j) for keys up to `tile_last_key`, and defines the parts that
/// the function wants kept. Scores of `masked` or less, -inf too, become masked_score. `unit`: what s.masked is multiplied by; undefined: 1.
void define_score(Stages &s, const Inputs &in, const Halide::Expr &tile_last_key, const Halide::Expr &unit = {});

/// Schedules the parts for scores of row tiles of the loop `tile`. What a score function reads of a query, a key or a distance is kept
/// where it changes: of queries for the task, of the others for a block. What it reads along keys goes the way of the bias.
void schedule_score(Stages &s, const Halide::LoopLevel &tile);

} // namespace gyre::attention
