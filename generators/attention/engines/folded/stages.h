/// Products of few rows: neighbouring features of a row stand beside each other in a vector.
#pragma once
#include "across_lanes.h"
#include "attention/engines/vectors/vectors.h"

#include <functional>

namespace gyre::attention {

struct FoldedStages : LaneStages {
    Halide::Var f{"f"};         // place among `fold` neighbouring features
    Halide::Func q_folded;      // (f, r, d / fold, t)   undefined: q_rows are read
    Halide::Func folded_scores; // (f, r, j, t, b)       of every fold-th feature
    SumsAcrossLanes across;     // (l, v, g, t, b)       of row l % row_tile and key l / row_tile of group g
    Halide::Func lane_sums;     // (r, l, t, b)          of weights of place l of vectors that hold several keys
    Halide::Func weighted_rows; // (d, r, t, b)
    Halide::Func weighted_sums; // (d, r, t, b)          undefined: weighted_rows are read
    Transpose weighted_lanes;   // (r, d, t, b)
};

/// A query's feature n * fold + f, by n: in q_folded, or in q_rows.
using FoldedQuery = std::function<Halide::Expr(const Halide::Expr &n)>;

/// Defines s.folded_scores and s.scores. `together`: as of features_of_scores().
void define_folded_scores(FoldedStages &s, int fold, int together, const FoldedQuery &query);

/// The turns of a block's loops: steps of scores, of each the loop over features, and the loop over keys of a chunk of weighted values.
struct BlockTurns {
    int steps, features, keys;
    int lanes;      // of vectors of offsets
    int places = 1; // of a block, whose lines are asked for in turn
    /// Asks for the lines of last features of aligned rows, too: of a few rows of pairs that costs nothing, and reads memory in order quicker.
    bool asks_for_all_ends = false;
};
/// Asks for lines of keys and values a block ahead. Only for those that are read where they are.
void ask_for_blocks(const FoldedStages &s, const Lowering &lowering, const BlockTurns &turns);

/// A turn of the loop over features: the keys whose scores it adds to, and their features. The call tells how many features rows have.
struct RowTurns {
    int keys, features;
    Halide::Expr of_key, of_value;
};
/// Asks where the call tells how many features there are: each turn asks for the values of its own keys, or for a key of the next block.
void ask_for_rows(const FoldedStages &s, const Lowering &lowering, const RowTurns &turns);

/// Schedules s.q_folded, which has `turns` vectors of `fold` places beside each row.
void schedule_folded_queries(FoldedStages &s, int fold, int turns);
/// Makes so many turns of the loop of s.folded_scores over features one: to look whether a turn asks for lines takes as long as several multiply-adds.
void join_feature_turns(FoldedStages &s, int turns);
/// Schedules the updates of s.weighted_rows, in vectors of `lanes` features.
void schedule_weighted_rows(FoldedStages &s, int lanes);
/// Schedules the guarded updates of `product`, if there are some; unrolled where little code is not what counts.
void schedule_guarded_rows(FoldedStages &s, Halide::Func product, int lanes, bool unrolled = true);

} // namespace gyre::attention
