/// Angles of every query and key of an attention call, formed once before the tasks that read them.
#pragma once
#include "attention/call/call.h"

namespace gyre {

/// Rows [tokens, 2, pairs] of one rotation for one side, queries or keys.
class AngleTable {
public:
    enum Side { queries, keys };

    gyre_status prepare(const gyre_context &context, const AttentionCall &call, const Rotation &rotation, Side side,
                        gyre_context::Frequencies &cache);

    bool on() const { return rotation != nullptr; }
    size_t bytes() const { return round_up(static_cast<size_t>(rows * row_floats) * sizeof(float)); }
    size_t scratch_bytes() const { return angles.scratch_bytes(run); }
    /// Gives the table its memory, before it is filled and once lists of lengths can be read.
    void place(char *memory);

    /// The table is filled in independent tasks.
    int64_t tasks() const { return sections * runs; }
    bool fill(int64_t task, char *scratch) const;

    /// Row of a sequence's token; rows follow each other at row_stride() floats.
    const float *row(const Sequence &s, int64_t index, int64_t token) const;
    int64_t row_stride() const { return row_floats; }
    int pairs() const { return rotation ? rotation->pairs : 0; }

private:
    static constexpr int64_t run = 64; // tokens of a task

    bool is_packed() const;
    int64_t first_row(const Sequence &s, int64_t index) const;

    const AttentionCall *call = nullptr;
    const Rotation *rotation = nullptr; // nullptr: this rotation is off
    Side side = queries;
    Angles angles;
    bool shared = false; // one section serves every sequence
    int64_t longest = 0; // keys of a sequence
    int64_t sections = 0, runs = 0, rows = 0, row_floats = 0;
    float *table = nullptr;
};

} // namespace gyre
