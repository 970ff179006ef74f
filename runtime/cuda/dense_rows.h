/// Tensors that kernels cannot read where they are: those that are rotated in the call, and those whose rows are not aligned as
/// asynchronous copies ask. They are written once a call, into the workspace.
#pragma once
#include "attention/call.h"
#include "cuda/rotary_launch.h"

namespace gyre::cuda {

/// True if asynchronous copies take every row of a tensor: it begins at a multiple of 16 bytes.
bool is_copyable(const Heads &t);

/// Where the tokens of a tensor stand, and how it is rotated.
struct Rotated {
    Rotation by; // off, or on
    Positions positions;
    const char *rope = nullptr; // in messages
    PackedTokens packed{};
};

/// True if the host knows where queries stand: at given positions; at the last keys of as many in every sequence; or at the keys of packed
/// sequences that have the same bounds.
bool has_known_query_positions(const AttentionCall &call);

/// Queries, or gradients of results, where has_known_query_positions().
Rotated rotated_queries(const AttentionCall &call, const Rotation &by, const char *rope);

/// What writes rows of another type, or rotated; without a rotation every kernel copies. NULL: no linked kernel does.
const RotaryKernel *find_row_writer(const gyre_context &context, gyre_dtype from, gyre_dtype to, const Rotation &by,
                                    bool appended = false);

/// Queues what writes `to`: `from`, rotated. `direction`: +1, or -1 to rotate back. In place, features beside the rotated ones stay.
gyre_status rotate_rows(gyre_context &context, const Scope &scope, const RotaryKernel &kernel, const Rotated &how,
                        float direction, const Heads &from, const Heads &to, gyre_context::Frequencies &cache);

/// [batch, heads, seqlen, dim] of a tensor's extents, dense, and without memory yet.
Heads dense_like(const Heads &like, gyre_dtype dtype);
size_t bytes_of_dense(const Heads &rows);
/// Errors: UNSUPPORTED (kernels cannot count the elements of a batch entry).
gyre_status check_dense_reach(const Heads &rows, const char *name);

/// A tensor as kernels take it: as it is, or written into the workspace.
class DenseRows {
public:
    /// `name`: in messages. Errors: UNSUPPORTED (no linked kernel writes it, or it is out of reach).
    gyre_status prepare(const gyre_context &context, const Heads &from, const Rotated &how, const char *name);
    /// Likewise, written in any case, and by this kernel.
    gyre_status prepare_by(const RotaryKernel &writer, const Heads &from, const Rotated &how, const char *name);

    size_t bytes() const;
    void place(char *memory);
    const Heads &view() const { return rows; }

    /// Queues what writes it. `cache`: of the rotation's frequencies.
    gyre_status fill(gyre_context &context, const Scope &scope, gyre_context::Frequencies &cache) const;

private:
    Heads from, rows;
    Rotated rotated;
    const RotaryKernel *kernel = nullptr; // NULL: it is read as it is
};

} // namespace gyre::cuda
