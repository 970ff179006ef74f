/// Tensors that kernels cannot read where they are: those that are rotated in the call, from pages, too, those whose rows are not
/// aligned as asynchronous copies ask, and those of another head size. They are written once a call, into the workspace.
#pragma once
#include "attention/call/call.h"
#include "cuda/rotary/launch.h"

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

/// Pages that the keys of sequences lie in: a pool's, listed on the device.
struct SourcePages {
    Heads pool; // [pages, page_size, heads, dim]
    const int32_t *table = nullptr;
    int64_t stride = 0;            // of the table's rows
    int32_t bits = 0;              // log2 of a page's keys
    const int32_t *used = nullptr; // keys of each sequence; NULL: all
};

/// What writes rows of another type, or rotated; without a rotation every kernel copies. NULL: no linked kernel does.
const RotaryKernel *find_row_writer(const gyre_context &context, gyre_dtype from, gyre_dtype to, const Rotation &by,
                                    bool appended = false);

/// Queues what writes `to`: `from`, rotated. `direction`: +1, or -1 to rotate back. In place, features beside the rotated ones stay.
gyre_status rotate_rows(gyre_context &context, const Scope &scope, const RotaryKernel &kernel, const Rotated &how,
                        float direction, const Heads &from, const Heads &to, gyre_context::Frequencies &cache);

/// [batch, heads, seqlen, dim] of a tensor's extents but the last, dense, and without memory yet.
Heads dense_like(const Heads &like, gyre_dtype dtype, int64_t dim);
size_t bytes_of_dense(const Heads &rows);
/// Errors: UNSUPPORTED (kernels cannot count the elements of a batch entry).
gyre_status check_dense_reach(const Heads &rows, const char *name);

/// A tensor as kernels take it: as it is, or written into the workspace.
class DenseRows {
public:
    /// `name`: in messages; `dim`: features of what kernels read, at least the tensor's, with zeros behind these; `dtype`: its type, or f32.
    /// Errors: UNSUPPORTED (no linked kernel writes it, or it is out of reach).
    gyre_status prepare(const gyre_context &context, const Heads &from, const Rotated &how, const char *name,
                        int64_t dim, gyre_dtype dtype);
    /// Writes them in any case, by this kernel.
    gyre_status prepare_by(const RotaryKernel &writer, const Heads &from, const Rotated &how, const char *name,
                           int64_t dim);
    /// Gathers keys from pages, rotated or not: an entry for each sequence. `from`: its extents alone count. Of another type than `dtype` they are
    /// gathered as they are, and then converted.
    gyre_status prepare(const gyre_context &context, const Heads &from, const Rotated &how, const SourcePages &pages,
                        int64_t dim, gyre_dtype dtype);

    size_t bytes() const;
    void place(char *memory);
    const Heads &view() const { return rows; }

    /// Queues what writes it. `cache`: of the rotation's frequencies.
    gyre_status fill(gyre_context &context, const Scope &scope, gyre_context::Frequencies &cache) const;

private:
    Heads from, rows;
    Rotated rotated;
    const RotaryKernel *kernel = nullptr;   // NULL: it is read as it is, or converted and not rotated
    const Kernel *converter = nullptr;      // of 16 bits to f32, which is rotated in place
    const RotaryKernel *gatherer = nullptr; // of rows in pages; NULL: in none
    SourcePages pages;                      // then
    bool is_gathered_first = false;         // into `from`, before it is converted

    bool is_written() const;
    gyre_status gather(gyre_context &context, const Scope &scope, const Rotation &by, const Heads &to,
                       gyre_context::Frequencies &cache) const;
    gyre_status convert(gyre_context &context, const Scope &scope) const;
    gyre_status clear_padding(const Scope &scope) const;
};

/// Results as kernels write them: where they belong, or with more features into the workspace.
class PaddedResults {
public:
    /// Errors: UNSUPPORTED (no linked kernel copies them, or they are out of reach).
    gyre_status prepare(const gyre_context &context, const Heads &to, int64_t dim);

    size_t bytes() const { return kernel ? bytes_of_dense(rows) : 0; }
    void place(char *memory);
    const Heads &view() const { return rows; }

    /// Queues what writes them to where they belong.
    gyre_status store(gyre_context &context, const Scope &scope) const;

private:
    Heads to, rows;
    const RotaryKernel *kernel = nullptr; // NULL: they are written where they belong
};

} // namespace gyre::cuda
