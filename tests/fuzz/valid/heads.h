/// Random tensors of heads, and the numbers in them.
#pragma once
#include "../byte_reader.h"
#include "memory.h"
#include "placement.h"

#include <functional>
#include <vector>

namespace gyre::fuzz {

/// Extents of a tensor of heads in any layout; thd has one batch entry.
struct Extents {
    gyre_layout layout = GYRE_BSHD;
    int64_t batch = 1, tokens = 1, heads = 1, dim = 1;

    std::vector<int64_t> shape() const;
    int64_t count() const { return batch * tokens * heads * dim; }
    /// The index of an element in C order of the shape.
    size_t index(int64_t b, int64_t token, int64_t head, int64_t feature) const;
    /// Flags of all elements from flags of tokens.
    std::vector<bool> of_tokens(const std::vector<bool> &tokens_of_all_entries) const;
};

gyre_dtype random_dtype(ByteReader &r);
gyre_layout random_layout(ByteReader &r);

/// Normal numbers, mostly of variance 1.
std::vector<double> random_numbers(ByteReader &r, int64_t count);

/// A tensor that is read.
Input &random_heads(ByteReader &r, Store &store, const Extents &extents, gyre_dtype dtype);
/// `may_repeat`: heads or entries may share memory.
Input &random_heads(ByteReader &r, Store &store, const Extents &extents, gyre_dtype dtype,
                    const std::vector<double> &numbers, bool may_repeat);
/// A tensor that is written.
Output &random_output(ByteReader &r, Store &store, const char *name, const Extents &extents, gyre_dtype dtype);

} // namespace gyre::fuzz
