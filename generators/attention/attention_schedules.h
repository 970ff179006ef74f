/// Fused attention: HOW it is computed. One function per machine class.
#pragma once
#include "attention_algorithm.h"

namespace gyre::attention {

constexpr int cache_line = 16; // f32 elements

/// Numbers that a tuner may change. Every field is a GeneratorParam of the same name.
struct Knobs {
    int row_vectors = 2;   // vectors of queries in a register tile
    int key_unroll = 8;    // keys in a register tile of the scores
    int feature_chunk = 8; // features in a register tile of the weighted values
    int row_tiles = 1;     // register tiles in a row tile, which shares a block's scores
    int key_block = 128;   // keys whose scores exist at once; a multiple of key_unroll
    int task_tiles = 4;    // row tiles of a task, which share a block's packed keys and values
    int lanes = 0;         // elements of a vector; 0: the target's natural width
    int fold = 0;          // few rows: features beside each other in a vector of queries; 0: many rows
    int key_vector = 1;    // features of a key or value that are read as one vector, whose lanes then multiply
};

void schedule_cpu(Stages &s, const Knobs &k);

/// The loops of the recurrence over blocks of keys: of a row tile's register tiles, of these the vectors, of these lanes.
struct TaskLoops {
    Halide::Var register_tile{"register_tile"}, vector{"vector"}, lane{"lane"};
};

/// What all of them do alike: all that surrounds the recurrence, and its loops, for all row tiles of the task in each
/// block. The result is the recurrence's stage.
Halide::Stage schedule_task(Stages &s, const Knobs &k, const TaskLoops &loops);

/// Both products on vectors, each register tile in a loop of its own.
void schedule_products(Stages &s, const Knobs &k, const Halide::LoopLevel &scores_at,
                       const Halide::LoopLevel &values_at);

/// True if the tile registers hold the accumulators of all features of a register tile's queries and of their sum.
bool holds_whole_head(int v_head_dim, const Knobs &k);

/// Both products on matrix tiles (Sizes::tile_depth > 0); the pipeline needs map_tile_products().
void schedule_amx(Stages &s, const Knobs &k);

} // namespace gyre::attention
