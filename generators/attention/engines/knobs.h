/// Numbers that a tuner may change.
#pragma once

namespace gyre::attention {

/// Every field is a GeneratorParam of the same name.
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
    int feature_unroll = 1; // the engine Bare alone: turns of the loop over features of the scores that are one turn
    int pair_unroll = 1;    // the same: Rotation::turns of queries and results
};

} // namespace gyre::attention
