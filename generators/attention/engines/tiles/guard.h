/// Keeps the values of masked keys out of products on matrix tiles, whatever they hold: WHAT is computed.
///
/// A masked key's weight is 0, and 0 times NaN or infinity is NaN. A tile's product cannot leave single values out. Where a
/// task's rows do not all see the same keys, and some value of a key that not all of them see is not finite, the task is
/// cleaned: its tiles take 0 for each value that is not finite, and the results of rows that see such a value take it
/// afterwards. Of finite values the bits are the same either way; other tasks do without.
#pragma once
#include "attention/attention_algorithm.h"

namespace gyre::attention {

/// Values that are looked at together, neighbours in memory.
int scanned_lanes(const Sizes &sizes);

/// s.cleaned (), from the values as they are stored.
void define_cleaned(Stages &s, const Inputs &in);

/// A pair of bf16 numbers (bf16_pairs.h) or a single one, as bits: 0 in place of what is not finite.
Halide::Expr finite_pair(const Halide::Expr &pair);
Halide::Expr finite_number(const Halide::Expr &number);

/// Appends to s.out_copy the update that gives rows of a cleaned task what they see and tiles did not take.
void define_marks(Stages &s, const Inputs &in);

/// Their schedule, with `w` lanes.
void schedule_tile_guard(Stages &s, int w);

} // namespace gyre::attention
