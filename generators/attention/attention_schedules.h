/// Fused attention: HOW it is computed. One function per machine class.
#pragma once
#include "attention_algorithm.h"

namespace gyre::attention {

constexpr int cache_line = 16; // f32 elements

/// Numbers that a tuner may change. Every field is a GeneratorParam of the same name.
struct Knobs {
    int row_vectors = 2;    // vectors of queries in a register tile
    int key_unroll = 8;     // keys in a register tile of the scores
    int feature_chunk = 8;  // features in a register tile of the weighted values
    int row_tiles = 1;      // register tiles in a row tile, which shares a block's scores
    int key_block = 128;    // keys whose scores exist at once; a multiple of key_unroll
    int task_tiles = 4;     // row tiles of a task, which share a block's packed keys and values
    int lanes = 0;          // elements of a vector; 0: the target's natural width
    int fold = 0;           // few rows: features beside each other in a vector of queries; 0: many rows
    int key_vector = 1;     // features of a key or value that are read as one vector, whose lanes then multiply
    int feature_unroll = 1; // schedule_bare() alone: turns of the loop over features of the scores that are one turn
};

void schedule_cpu(Stages &s, const Knobs &k);

/// After schedule_cpu(), for few rows (Sizes::fold > 0) and with keys and values as stored: they come a block ahead.
void ask_for_blocks(Halide::Internal::GeneratorBase &generator, Stages &s, const Knobs &k,
                    const Halide::OutputImageParam &keys, const Halide::OutputImageParam &values);

/// Few rows with keys along the lanes (Sizes::key_lanes), and keys and values as stored.
void schedule_key_lanes(Stages &s, const Knobs &k);

/// Little code and a small stack, for machines without an operating system: tasks of one row tile of a few rows.
void schedule_bare(Stages &s, const Knobs &k);

/// Sizes::feature_chunk for it: of `lanes` neighbours each, as many as divide a head, up to 16. More are fewer turns of the loop
/// that folds blocks, and more code: up to 8 where keys and values are converted, which takes code as well.
int bare_feature_chunk(int v_head_dim, int lanes, bool converted);

/// The loops of a recurrence over blocks of keys: of row tiles, of their register tiles, of these the vectors, of these
/// lanes. Names differ between recurrences, so that a stage can be formed in a loop of one of them.
struct TaskLoops {
    Halide::Var tile, register_tile, vector, lane;

    explicit TaskLoops(const std::string &prefix = "")
        : tile(prefix + "tile"), register_tile(prefix + "register_tile"), vector(prefix + "vector"),
          lane(prefix + "lane") {}
};

/// What all of them do alike: all that surrounds the recurrence.
void schedule_task(Stages &s);

/// The loops of the recurrence that is update `update` of the state: all row tiles of the task in each block. The result
/// is its stage.
Halide::Stage schedule_recurrence(Stages &s, const Knobs &k, const TaskLoops &loops, int update = 0);

/// What tells guarded blocks, once a block.
void schedule_guard(Stages &s, int lanes);

/// Both products on vectors, each register tile in a loop of its own.
void schedule_products(Stages &s, const Knobs &k, const Halide::LoopLevel &scores_at,
                       const Halide::LoopLevel &values_at);

/// What differs with Sizes::matrices: queries, once a task; both products, and the matrices that they take.
void schedule_matrix_queries(Stages &s);
void schedule_matrices(Stages &s, const Knobs &k, const Halide::LoopLevel &scores_at,
                       const Halide::LoopLevel &weights_at, const Halide::LoopLevel &values_at);

/// Sizes::key_step for products of pairs: whole register tiles of scores, and whole groups of weights.
int pair_key_step(int key_unroll);

/// What differs with Sizes::pairs: both products, and the pairs that they take.
void schedule_pairs(Stages &s, const Knobs &k, const Halide::LoopLevel &scores_at, const Halide::LoopLevel &weights_at,
                    const Halide::LoopLevel &values_at);

/// True if the tile registers hold the accumulators of all features of a register tile's queries and of their sum.
bool holds_whole_head(int v_head_dim, const Knobs &k);

/// Both products on matrix tiles (Sizes::tile_depth > 0); the pipeline needs lower_tiles().
void schedule_amx(Stages &s, const Knobs &k);

/// The lowering of our own that these schedules count on.
void lower_tiles(Halide::Internal::GeneratorBase &generator, const Stages &s, const Knobs &k, const Halide::Expr &keys);

} // namespace gyre::attention
