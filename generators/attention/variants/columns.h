/// Updates of scores, which have rows along the lanes, from what lies along keys in memory: HOW.
#pragma once
#include "attention/recurrence/stages.h"

namespace gyre::attention {

/// The loop of such an update over column blocks, each of as many keys as a vector has lanes.
constexpr char column_block_loop[] = "column_block";
constexpr char row_block_loop[] = "row_block";

/// The loop of an update over pairs of keys, each of whose turns takes as many pairs as a vector has lanes.
constexpr char pair_block_loop[] = "pair_block";

struct ColumnUpdate {
    Halide::Func columns; // (r, j, t, b)
    int update;
    Halide::RVar key;
};

/// Schedules an update from `rows` of the whole block, since neighbours in memory are best read together, which are then transposed a
/// column block of the row tile at a time. Rows are formed within a loop of one turn, and so not at all where the update has nothing
/// to do.
void schedule_columns_from_rows(Stages &s, ColumnUpdate of, Halide::Func rows, Transpose &lanes);

struct PairUpdate {
    Halide::Func columns; // (r, j, t, b)
    int update;
    Halide::RVar key, pair;
};
/// Schedules an update from pairs of neighbouring keys as schedule_columns_from_rows() does from keys. It transposes each block in registers.
void schedule_columns_from_pairs(Stages &s, PairUpdate of, Halide::Func rows, Transpose &lanes);

} // namespace gyre::attention
