/// Tensors with any field of any value, but for one thing that no library can check: that an address which is not NULL has the
/// memory that shape and strides say. A view either lies in memory of the fuzzer, or beyond what addresses count, or has no data.
#pragma once
#include "memory.h"

#include <gyre/gyre.h>

#include <initializer_list>

namespace gyre::fuzz {

class HostileTensors {
public:
    HostileTensors(ByteReader &reader, Memory &memory) : reader_(reader), memory_(memory) {}

    /// A view of that shape, of which anything may then be spoilt.
    gyre_tensor tensor(std::initializer_list<int64_t> shape, gyre_dtype dtype, bool output = false);
    /// A tensor behind a pointer, which now and then is NULL.
    const gyre_tensor *pointer(std::initializer_list<int64_t> shape, gyre_dtype dtype, bool output = false);

private:
    ByteReader &reader_;
    Memory &memory_;
    gyre_tensor kept_[24];
    size_t count_ = 0;

    void spoil(gyre_tensor *t);
    void keep_in_memory(gyre_tensor *t, bool output);
};

/// Moves a tensor to where `parts` of it, `stride` elements apart, are in memory or beyond all addresses; it loses its data where
/// there is no such place.
void keep_parts_in_memory(gyre_tensor *part, int64_t parts, int64_t stride, Memory &memory);

} // namespace gyre::fuzz
