/// What hostile calls read and write: memory between pages that cannot be touched. Inputs are one of a few images, which are filled once
/// and cannot be written, so that a call takes no longer than what it does itself.
#pragma once
#include "../byte_reader.h"
#include "guarded_memory.h"

#include <gyre/gyre.h>

#include <deque>

namespace gyre::fuzz {

class Memory {
public:
    static constexpr size_t bytes = 1 << 16; // of inputs, and of outputs
    static constexpr size_t most_workspace = 1 << 18;
    static constexpr size_t most_prepared = 1 << 18;

    Memory();

    /// For the next call: another image, outputs and frequencies as they were.
    void choose(ByteReader &from);
    /// After a call: true unless it was refused and has written something.
    bool as_it_should_be(gyre_status status) const;

    uint8_t *inputs() { return image->begin(); }
    uint8_t *outputs() { return outputs_.begin(); }
    /// The last `size` bytes before what cannot be touched.
    void *workspace(size_t size) { return workspace_.end() - size; }
    /// Past the last byte that a prepared mask may have.
    uint8_t *prepared_end() { return prepared_.end(); }
    /// Radians a token, more than any rotation reads.
    double *frequencies() { return reinterpret_cast<double *>(frequencies_.begin()); }
    void spoil_frequency(uint32_t which, double value);

private:
    std::deque<GuardedMemory> images;
    const GuardedMemory *image = nullptr;
    GuardedMemory outputs_{bytes}, workspace_{most_workspace}, prepared_{most_prepared};
    GuardedMemory frequencies_{bytes * sizeof(double)};
    bool spoilt = false;   // some frequency is
    uint8_t untouched = 0; // every byte of outputs before a call
};

} // namespace gyre::fuzz
