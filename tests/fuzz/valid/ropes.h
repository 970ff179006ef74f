/// Random rotations, and positions of the tokens that they turn.
#pragma once
#include "../byte_reader.h"
#include "memory.h"

#include <cstdint>
#include <vector>

namespace gyre::fuzz {

/// Rows of a table of angles, and which of them a call needs.
struct TableRows {
    int64_t count = 0; // 0: no table
    std::vector<bool> used;

    void use(int64_t row) {
        if (row >= (int64_t)used.size()) used.resize((size_t)row + 1);
        if (row >= 0) used[(size_t)row] = true;
    }
};

struct RopeRules {
    int64_t dim = 0; // 2 or more
    int32_t axes = 1;
    bool may_have_offset = false;
};

/// A rotation whose angles follow from frequencies.
gyre_rope &random_rope(ByteReader &r, Store &store, const RopeRules &rules);

/// Gives a rope of one axis tables instead: a row a position, garbage in rows that are not needed.
void add_tables(ByteReader &r, Store &store, gyre_rope *rope, int64_t dim, const TableRows &rows);
/// A row a token.
void add_token_tables(ByteReader &r, Store &store, gyre_rope *rope, int64_t dim, int64_t batch, int64_t tokens);

/// How many pairs a rope turns in heads of this size.
int64_t pairs_of(const gyre_rope &rope, int64_t dim);

struct PositionRules {
    int32_t axes = 1;
    int64_t batch = 1, tokens = 0;
    int64_t limit = 1 << 20;      // positions are below it
    std::vector<int64_t> lengths; // of each batch entry: tokens behind do not count; empty: all count
};

/// Positions as they are given, and the same with 0 for tokens that do not count.
struct RandomPositions {
    const gyre_tensor *given = nullptr;
    test::Tensor clean;
    gyre_tensor clean_view;
    std::vector<int64_t> used; // of the first axis
};

RandomPositions random_positions(ByteReader &r, Store &store, const PositionRules &rules);

} // namespace gyre::fuzz
