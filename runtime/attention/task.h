/// One task of attention: some rows of one head of one sequence, by one call of a kernel.
#pragma once
#include "attention/angle_table.h"
#include "attention/kernels.h"

#include <array>

namespace gyre {

/// What all tasks of a call share. Read only while they run.
struct AttentionTask {
    AttentionCall call;
    const AttentionKernel *kernel = nullptr;
    ScoreViews score_views;                              // what the kernel's score function reads
    int64_t rows = 0;                                    // of a task
    AngleTable q_angles, k_angles, v_angles, out_angles; // the last two off where the first two serve

    std::array<AngleTable *, 4> tables() { return {&q_angles, &k_angles, &v_angles, &out_angles}; }
    std::array<const AngleTable *, 4> tables() const { return {&q_angles, &k_angles, &v_angles, &out_angles}; }

    /// Scratch memory that run() needs.
    size_t scratch_bytes() const;

    /// Rows [first_row, first_row + rows) of a head of the sequence of that index, cut at its end. False: the kernel
    /// failed.
    bool run(int64_t index, int64_t head, int64_t first_row, char *scratch) const;

private:
    struct Extent; // which rows and keys

    void write_empty_rows(const Extent &x, float *lse) const;
};

} // namespace gyre
