/// The recurrence over blocks of keys: WHAT is computed.
#pragma once
#include "attention/engines/recurrence_engine.h"

namespace gyre::attention {

/// Appends to the state the fold over the blocks that row tiles see, where `taken` (t). A tuple of the state holds the
/// accumulators of feature_chunk features with the maximum and the sum, because the accumulators' update reads the maximum that it
/// also replaces. `name` of the loop.
void fold_blocks(RecurrenceEngine &engine, const Inputs &in, const std::string &name, const Halide::Expr &taken);

/// Appends to the state the update that sets it to `nothing` in row tiles that see no block: of engines that begin with a block.
void clear_unseeing_tiles(Stages &s, const Inputs &in, std::vector<Halide::Expr> nothing);

/// Appends the update of s.masked that masks keys: in blocks `where` some row does not see some key; `from`: the first key of block b that
/// may be masked, undefined: the block's first.
void mask_scores(Stages &s, const Visible &visible, const KeySteps &steps, const Halide::Expr &where,
                 const Halide::Expr &from = {});

/// Defines s.block_max, from s.masked; a step takes `at_once` keys, since each step waits for the one before.
void find_maximum(Stages &s, const Visible &visible, int at_once);

} // namespace gyre::attention
