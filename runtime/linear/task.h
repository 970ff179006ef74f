/// One task of linear attention: the query heads of one sequence that share a key head, chunk of tokens after chunk.
///
///     for every chunk of keys:       phi(k), rotated and not; v
///         causal, of its queries:    phi(q), rotated and not; the chunk's own keys and the state; divided; stored
///         the state takes the chunk's keys
///     not causal, of all queries:    phi(q), rotated and not; the state; divided; stored
///
/// The order of all sums is that of tokens, whoever runs the task: results are the same bits with any number of threads.
#pragma once
#include "attention/angle_table.h"
#include "linear/memory.h"
#include "linear/rows.h"

namespace gyre {

struct LinearTask {
    LinearCall call;
    LinearKernels kernels;
    AngleTable q_angles, k_angles; // the second off where the first serves

    /// Of the task's memory, once the kernels are known.
    LinearSizes sizes(bool backward) const;

    /// False: a kernel failed.
    bool run(int64_t sequence, int64_t kv_head, char *memory) const;
};

/// A run of tokens of one head of a task, with the memory and the kernels that it works with.
class LinearRun {
public:
    LinearRun(const LinearTask &task, const LinearSizes &sizes, int64_t index, int64_t kv_head, char *memory);

    const LinearTask &task;
    const LinearCall &call;
    const AttentionCall &c;
    const LinearSizes z;
    const LinearMemory m;
    const RowKernels kernels;
    const Sequence s;
    const int64_t index, kv_head, group; // query heads g of the group are kv_head * group + g

    HeadRows queries(const Heads &of, int64_t g, int64_t first) const {
        return {of, s.batch, s.q_first + first, kv_head * group + g};
    }
    HeadRows keys(const Heads &of, int64_t first) const { return {of, s.batch, s.k_first + first, kv_head}; }
    const float *query_angles(int64_t first) const { return task.q_angles.row(s, index, first); }
    const float *key_angles(int64_t first) const {
        return (task.k_angles.on() ? task.k_angles : task.q_angles).row(s, index, first);
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
    bool load_queries(int64_t g, int64_t first, int64_t count) const;
    /// Features and values of keys; rows from `count` to `past` are cleared.
    bool load_keys(int64_t first, int64_t count, int64_t past) const;
    /// Moves the sums of features beyond these keys: `sums` of each, with the keys before.
    bool sum_keys(int64_t count) const;
};

} // namespace gyre
