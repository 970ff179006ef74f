/// One task of linear attention: a few key heads of one sequence and the query heads that share them, chunk of tokens after
/// chunk.
///
///     for every chunk and key head:   phi(k), rotated and not; v
///         causal, of its queries:     phi(q), rotated and not; the chunk's own keys and the state; divided; stored
///         the state takes the chunk's keys
///     not causal, of all queries:     phi(q), rotated and not; the state; divided; stored
///
/// The order of all sums is that of tokens, whoever runs the task: results are the same bits with any number of threads.
#pragma once
#include "attention/operands/angle_tables.h"
#include "linear/memory.h"
#include "linear/rows.h"

#include <algorithm>

namespace gyre {

struct LinearTask {
    LinearCall call;
    LinearKernels kernels;
    AngleTables angles; // without those of keys where those of queries serve

    /// The sizes of the task's memory, once the kernels are known.
    LinearSizes sizes(bool backward) const;

    /// Runs as many key heads as sizes() says, from this one. False: a kernel failed.
    bool run(int64_t sequence, int64_t first_head, char *memory) const;
    int64_t heads = 1;          // key heads of a task
    bool writes_states = false; // also of sequences without tokens
};

/// What a task works with, one key head at a time.
class LinearRun {
public:
    LinearRun(const LinearTask &task, const LinearSizes &sizes, int64_t index, int64_t first_head, char *memory);

    const LinearTask &task;
    const LinearCall &call;
    const AttentionCall &c;
    const LinearSizes z;
    const LinearMemory m;
    const RowKernels kernels;
    const Sequence s;
    const int64_t index, first_head, group; // query heads g of the group are kv_head * group + g
    int64_t kv_head;                        // the one at work

    int64_t past_head() const { return std::min(first_head + z.heads, c.k.heads); }
    float *kv_state() const { return m.kv_states + (kv_head - first_head) * z.features * z.stride; }
    float *k_state() const { return m.k_states + (kv_head - first_head) * z.stride; }

    HeadRows queries(const Heads &of, int64_t g, int64_t first) const {
        return {of, s.batch, s.q_first + first, kv_head * group + g};
    }
    HeadRows keys(const Heads &of, int64_t first) const { return {of, s.batch, s.k_first + first, kv_head}; }
    const float *query_angles(int64_t first) const { return task.angles.queries()->row(s, index, first); }
    const float *key_angles(int64_t first) const {
        return (call.same_tokens ? task.angles.queries() : task.angles.keys())->row(s, index, first);
    }

    Rows rows(float *memory) const { return {memory, z.stride}; }
    /// Clears rows [first, past).
    void clear(float *memory, int64_t first, int64_t past) const;
    /// Rows that a tile of rows may read beyond so many.
    int64_t whole_tiles(int64_t count) const { return ceil_div(count, task.kernels.tile) * task.kernels.tile; }

    /// Clears what pads heads, once for all chunks.
    void clear_padding() const;
    void load_state(const LinearState &from, float *kv, float *k) const;
    void store_state(const float *kv, const float *k, const LinearState &to) const;
    // The first token becomes row `base`.
    bool load_queries(int64_t g, int64_t first, int64_t count, int64_t base = 0) const;
    /// Features and values of keys; as many rows of as many tokens that are not keys are cleared.
    bool load_keys(int64_t first, int64_t count, int64_t cleared, int64_t base = 0) const;
    /// Moves the sums of features beyond these keys: `sums` of each, with the keys before.
    bool sum_keys(int64_t count) const;
};

} // namespace gyre
