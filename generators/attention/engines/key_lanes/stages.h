/// The stages of keys along the lanes, and the loops that add values.
#pragma once
#include "attention/engines/folded/stages.h"

namespace gyre::attention {

/// The loops of an update that adds values of a group of keys to neighbouring vectors of features.
struct ValueSum {
    Halide::Func of_group;      // (l, v, h, c, g, r, t, b)  of every keys_at_once-th key of a group, from its h-th on
    Halide::RVar key, last_key; // of its updates; last_key: where keys_at_once is 2
    Halide::RVar lane, vector, chunk, group; // of weighted_rows' update
    int vectors, keys_at_once;
};

/// How a schedule calls these loops. Each sum has a loop over keys of its own, whose turns ask for as many lines as it has vectors.
constexpr const char *value_chunk_loop = "value_chunk", *value_group_loop = "value_group";
std::string value_key_loop(size_t sum);

/// folded_scores are (f, j, r, t, b).
struct KeyLaneStages : FoldedStages {
    Halide::Func
        q_placed;        // (d, r, t)       q_rows in the order of PairsOfVectors; undefined: numbers do not go in pairs
    Halide::Func spread; // (b)            1: a step takes keys from several places
    Halide::Expr feature_groups;          // of feature_chunk vectors each
    std::vector<ValueSum> value_sums;     // the first updates of weighted_rows
    std::vector<Halide::Func> lane_pairs; // (bit, f, j, r, t, b)
    std::vector<Halide::Func> lane_sums;  // (f, j, r, t, b)
    Halide::Func lane_max, lane_sum;      // (l, r, t, b)   of every `lanes`-th key of a block
    Halide::Func lane_hidden;             // (l, r, t, b)   1: a bias or a mask hides some of its keys from the row
    Halide::Func row_hidden, hidden;      // (r, t, b) (b)  from a row, or any; undefined outside of the general family
    Halide::RVar hidden_j, hidden_tile;   // of the updates of lane_hidden and hidden
    std::vector<Halide::Func> key_rounds; // (lane, upper, pair, d / 32, j / 16, b)   of their transposition
    Transpose transposed_keys;            // (j, d, b)      of f32
    Halide::Func key_columns;             // (j, d, b)      keys as they are stored, f16 numbers as bits
};

/// Rows of f32 beside keys in columns, of which a register tile has a few groups: the last tile ends with a whole one.
constexpr int rows_of_group = 4;

/// Neighbouring keys whose values a row takes before the next row does: few enough for L1 or L2 to keep them. Divides key_block.
constexpr int value_keys = 64;

/// Keys whose values have sums of their own, since a sum waits for the one before: 8 sums keep multiply-adds busy.
constexpr int keys_at_once_of(int vectors) { return vectors == 4 ? 2 : 1; }

} // namespace gyre::attention
