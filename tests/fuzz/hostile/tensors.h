/// Tensors with any field of any value, but for one thing that no library can check: that an address which is not NULL has the
/// memory that shape and strides say. A view either lies in memory of the fuzzer, or beyond what addresses count, or has no data.
#pragma once
#include "../byte_reader.h"

#include <gyre/gyre.h>

#include <initializer_list>
#include <vector>

namespace gyre::fuzz {

/// Memory of inputs, and of outputs.
class Memory {
public:
    static constexpr size_t bytes = 1 << 16;

    Memory() : inputs_(bytes), outputs_(bytes) {}

    void fill(ByteReader &from);
    /// After a call: true if inputs are as they were, and outputs too where it failed.
    bool as_it_should_be(gyre_status status) const;

    uint8_t *inputs() { return inputs_.data(); }
    uint8_t *outputs() { return outputs_.data(); }

private:
    std::vector<uint8_t> inputs_, outputs_, inputs_before_, outputs_before_;
};

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

/// How far views lie that `parts` of the tensor, `stride` elements apart, come to; false: they are neither in memory nor beyond it.
bool parts_are_checkable(const gyre_tensor &part, int64_t parts, int64_t stride, const Memory &memory);

} // namespace gyre::fuzz
