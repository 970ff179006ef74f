/// Keys or values that attention's kernels cannot read where they are: those that are rotated in the call, and those whose rows are
/// not aligned as asynchronous copies ask. They are written once a call, into the workspace.
#pragma once
#include "attention/call.h"
#include "cuda/rotary_launch.h"

namespace gyre::cuda {

/// True if asynchronous copies take every row of a tensor: it begins at a multiple of 16 bytes.
bool is_copyable(const Heads &t);

class DenseRows {
public:
    /// Finds what writes the rows of `from`, rotated by `rotation` if that is on. `rope` and `name` are of messages. Errors: UNSUPPORTED
    /// (no linked kernel does that, or the rows are out of reach).
    gyre_status prepare(const gyre_context &context, const AttentionCall &call, const Heads &from,
                        const Rotation &rotation, const char *rope, const char *name);

    size_t bytes() const;
    void place(char *memory) { rows.data = memory; }

    /// [batch, heads, seqlen, dim], dense.
    const Heads &view() const { return rows; }

    /// Queues what writes them. `cache`: of the rotation's frequencies.
    gyre_status fill(gyre_context &context, const Scope &scope, gyre_context::Frequencies &cache) const;

private:
    Heads from, rows;
    Rotation rotation;
    Positions positions;
    PackedTokens packed;
    const RotaryKernel *kernel = nullptr; // NULL: off
    const char *rope = nullptr, *name = nullptr;
};

} // namespace gyre::cuda
