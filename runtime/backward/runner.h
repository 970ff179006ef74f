/// The run of a task over one sequence and key head: its rows, then every block of keys with all rows that see some of it.
#pragma once
#include "backward/block_arguments.h"
#include "backward/task.h"

namespace gyre {

/// Tokens of one head of one tensor, and the angles that they are rotated by.
struct BackwardRun {
    const Heads &heads;
    int64_t batch, token, head, count;
    const Rotation &rotation;
    const float *angles; // nullptr: they are not rotated
};

/// The run of one sequence and kv head, with what its parts share.
class BackwardRunner {
public:
    BackwardRunner(const BackwardTask &task, int64_t index, int64_t kv_head, char *memory)
        : task(task), c(task.call.forward), s(c.sequence(index)), index(index), kv_head(kv_head),
          kernel(task.blocks_of(s)), z(task.sizes(kernel)), m(z, memory) {}

    bool run();

private:
    const BackwardTask &task;
    const AttentionCall &c;
    const Sequence s;
    const int64_t index, kv_head;
    const BlockKernel &kernel;
    const BackwardSizes z;
    const BackwardMemory m;

    BlockSight sight(int64_t first_row, int64_t first_key) const;

    const BlockKernel &blocks() const { return kernel; }
    int64_t head(int64_t g) const { return kv_head * z.group + g; }

    const float *angles(const AngleTable *table, int64_t token) const {
        return table ? table->row(s, index, token) : nullptr;
    }
    BackwardRun rows_run(const Heads &of, int64_t g, int64_t first, int64_t count, const Rotation &r,
                         const AngleTable *t) const {
        return {of, s.batch, s.q_first + first, head(g), count, r, angles(t, first)};
    }
    BackwardRun keys_run(const Heads &of, int64_t first, int64_t count, const Rotation &r, const AngleTable *t) const {
        return {of, s.batch, s.k_first + first, kv_head, count, r, angles(t, first)};
    }
    BackwardRun query_run(const Heads &of, int64_t g, int64_t first, int64_t count) const {
        return rows_run(of, g, first, count, c.rope, task.angles.queries());
    }
    BackwardRun output_run(const Heads &of, int64_t g, int64_t first, int64_t count) const {
        return rows_run(of, g, first, count, c.value_rope, task.angles.results());
    }
    BackwardRun key_run(const Heads &of, int64_t first, int64_t count) const {
        return keys_run(of, first, count, c.rope, task.angles.keys());
    }
    BackwardRun value_run(const Heads &of, int64_t first, int64_t count) const {
        return keys_run(of, first, count, c.value_rope, task.angles.values());
    }

    TokenRun in_rows(float *rows) const;
    /// Rotated rows in f32, padded with zeros.
    bool load(const BackwardRun &r, float *rows) const;
    /// Rotated queries, keys and values as the forward pass multiplied them, so that probabilities follow from its lse.
    bool load_operand(const BackwardRun &r, float *rows) const;
    /// The gradient of what was rotated, rotated back.
    bool store(float *rows, const BackwardRun &r) const;

    bool load_queries() const;
    bool load_statistics(int64_t g, int64_t first, int64_t count) const;
    bool normalize_rows() const;
    bool has_large_scores(int64_t g, int64_t first_row) const;
    bool add_totals(int64_t g, int64_t first_row, int64_t first_key) const;
    void normalize_row(int64_t row) const;
    bool store_queries(int64_t g) const;
    void clear_rows(float *first, int64_t count) const;
    void clear_past_end(float *rows, int64_t count) const;
    bool load_keys(int64_t first) const;
    bool run_keys(int64_t first) const;
    bool form_panels(const float *rows, int64_t keys, float *panels) const;
    bool panels_of(const float *rows, int64_t stride, int64_t count, float *panels) const;
    bool form_value_panels(int64_t first, int64_t count) const;
    /// Rows in f32 that kernels may read where they are stored, heads.token_stride apart; nullptr: they have to be loaded.
    const float *stored_rows(const BackwardRun &r) const;
    bool add_block(int64_t g, int64_t first_row, int64_t first_key) const;
    void clear_unused_keys() const;
};

} // namespace gyre
