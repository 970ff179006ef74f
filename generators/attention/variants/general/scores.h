/// What the general family of fused attention does to scores: WHAT is computed.
#pragma once
#include "attention/attention_algorithm.h"

namespace gyre::attention {

/// Appends to `s.masked`, before it is masked: cap, score function, bias, boolean mask, ALiBi. Keys after `tile_last_key`
/// need not be touched.
void define_general_scores(Stages &s, const Inputs &in, const Halide::Expr &tile_last_key);

} // namespace gyre::attention
