/// What the general family of fused attention does to scores.
#pragma once
#include "attention/recurrence/inputs.h"
#include "attention/recurrence/stages.h"

namespace gyre::attention {

/// Appends to `s.masked`, before it is masked: cap, score function, bias, boolean mask, ALiBi. Keys after `tile_last_key`
/// need not be touched. `in_vector`: keys along the lanes of scores, or 1. `unit`: what scores are multiplied by before all of that, by the
/// first of these updates that a call has; undefined: 1. `in_pairs`: a bias whose type is that of the engine's numbers, bf16, is taken in pairs of
/// keys where nothing else is added.
void define_general_scores(Stages &s, const Inputs &in, const Halide::Expr &tile_last_key, int in_vector,
                           const Halide::Expr &unit = {}, bool in_pairs = false);

/// Appends the cap alone: an update of `s.masked` along general.cap_j. `unit` as above.
void cap_scores(Stages &s, const Halide::Expr &softcap, const Halide::Expr &tile_last_key, int in_vector,
                const Halide::Expr &unit = {});

/// Appends ALiBi alone, where rows are along the lanes. `unit` as above.
void slope_scores(Stages &s, const Inputs &in, const Halide::Expr &tile_last_key, const Halide::Expr &unit = {});

/// Schedules it where rows are along the lanes, for scores of row tiles of the loop `tile`.
void schedule_general(Stages &s, const Halide::LoopLevel &tile);

/// Schedules it where keys are along the lanes, for scores of row tiles of the loop `tile`.
void schedule_general_along_keys(Stages &s, const Halide::LoopLevel &tile, int lanes);

} // namespace gyre::attention
