/// Memory of tensors that are timed: as many copies as it takes to fill more than the caches next to the core.
#pragma once

#include <gyre/gyre.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace gyre::tune {

/// Dense tensors of equal shape and content on cache lines of their own.
class Buffers {
public:
    /// Filled with normally distributed numbers if `seed` is not 0, else with zeros.
    Buffers(gyre_dtype dtype, std::vector<std::int64_t> shape, std::size_t copies, std::uint64_t seed);

    gyre_tensor view(std::size_t copy) const;

private:
    struct Free {
        void operator()(void *memory) const { std::free(memory); }
    };
    gyre_dtype dtype_;
    std::vector<std::int64_t> shape_;
    std::size_t bytes_each_, stride_;
    std::unique_ptr<unsigned char, Free> memory_;
};

/// Scratch memory that calls of all libraries share, in a few places that are used in turn.
class Workspaces {
public:
    void reserve(std::size_t bytes);
    void *at(std::size_t index) const { return memory_[index % places].get(); }
    std::size_t bytes() const { return bytes_; }

private:
    static constexpr std::size_t places = 4;
    std::unique_ptr<unsigned char[]> memory_[places];
    std::size_t bytes_ = 0;
};

/// How many sets of tensors a workload rotates through.
std::size_t copies_for(double bytes_of_a_set);

} // namespace gyre::tune
