/// How many rows a row tile has, of kernels that are told.
#pragma once
#include "attention/dispatch/kernels.h"

namespace gyre {

/// What the tokens of a task see.
struct TokensInSight {
    int64_t heads;  // rows of a token
    int64_t tokens; // of the task
    int64_t keys;   // that a token sees, on average
    int64_t ends;   // of that range which move from token to token: 0, 1 or 2
};

/// A row tile multiplies every key that one of its rows sees. Where the ends move, fewer vectors of rows multiply fewer keys in vain; but each then loads
/// every key for fewer rows. The number of rows that takes the least time; a task of so many tokens has room for its tiles. bench/notes has the
/// measurements.
int64_t rows_of_tile(const AttentionKernel &kernel, const TokensInSight &tokens);

} // namespace gyre
