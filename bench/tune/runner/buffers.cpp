#include "buffers.h"

#include "support/element.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

namespace gyre::tune {
namespace {

constexpr std::size_t cache_line = 64;
constexpr double enough_bytes = 32 << 20; // several times a core's own caches

} // namespace

Buffers::Buffers(gyre_dtype dtype, std::vector<std::int64_t> shape, std::size_t copies, std::uint64_t seed)
    : dtype_(dtype), shape_(std::move(shape)) {
    const auto size = static_cast<std::size_t>(test::element_size(dtype));
    std::size_t elements = 1;
    for (const std::int64_t extent : shape_) elements *= static_cast<std::size_t>(extent);
    bytes_each_ = elements * size;
    stride_ = (bytes_each_ + cache_line - 1) / cache_line * cache_line;
    memory_.reset(static_cast<unsigned char *>(std::aligned_alloc(cache_line, std::max(stride_ * copies, cache_line))));
    if (!memory_) throw std::bad_alloc();
    std::memset(memory_.get(), 0, stride_ * copies);
    if (seed) {
        const auto count = static_cast<std::int64_t>(elements);
        test::encode_elements(dtype, memory_.get(), 1, count, test::normal_numbers(seed, count).data());
    }
    for (std::size_t copy = 1; copy < copies; copy++)
        std::memcpy(memory_.get() + copy * stride_, memory_.get(), bytes_each_);
}

gyre_tensor Buffers::view(std::size_t copy) const {
    return gyre_tensor_dense(memory_.get() + copy * stride_, dtype_, static_cast<std::int32_t>(shape_.size()),
                             shape_.data());
}

void Workspaces::reserve(std::size_t bytes) {
    if (bytes <= bytes_) return;
    for (auto &place : memory_) place.reset(new unsigned char[bytes]());
    bytes_ = bytes;
}

std::size_t copies_for(double bytes_of_a_set) {
    return static_cast<std::size_t>(std::clamp(std::ceil(enough_bytes / std::max(bytes_of_a_set, 1.0)), 2.0, 256.0));
}

} // namespace gyre::tune
