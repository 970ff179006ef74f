// Memory of the driver without a device: allocations, pools and copies.
#include "state.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace gyre::fake_cuda {
namespace {

struct Allocation {
    size_t bytes;
    int device;
    void *stream; // that it is of; its address for others
};
std::map<Pointer, Allocation> &allocations() {
    static std::map<Pointer, Allocation> all;
    return all;
}
bool find_allocation(Pointer p, Pointer *begin, Allocation *allocation) {
    const std::lock_guard<std::mutex> lock(mutex);
    auto found = allocations().upper_bound(p);
    if (found == allocations().begin()) return false;
    --found;
    if (p >= found->first + found->second.bytes) return false;
    *begin = found->first;
    *allocation = found->second;
    return true;
}

std::atomic<void *> stream_of_last = nullptr; // of what was allocated last in the order of a stream

struct Pool {
    int device;
    uint64_t kept = 0;
};
std::vector<Pool *> &pools() {
    static std::vector<Pool *> all;
    return all;
}

Result allocate(Pointer *p, size_t bytes, int device, void *stream) {
    void *memory = nullptr;
    if (posix_memalign(&memory, 256, bytes)) return out_of_memory;
    *p = reinterpret_cast<Pointer>(memory);
    const std::lock_guard<std::mutex> lock(mutex);
    allocations()[*p] = {bytes, device, stream};
    return success;
}

struct PoolProperties { // CUmemPoolProps
    int allocation, handles, location, device;
    void *security;
    unsigned char others[64];
};

} // namespace

extern "C" {

// For tests alone.
long fake_cuda_allocations() {
    const std::lock_guard<std::mutex> lock(mutex);
    return static_cast<long>(allocations().size());
}
void *fake_cuda_stream_of_memory() { return stream_of_last; }
long fake_cuda_pools() { return static_cast<long>(pools().size()); }
uint64_t fake_cuda_kept_by_pool(long pool) { return pools().at(static_cast<size_t>(pool))->kept; }
int fake_cuda_device_of_pool(long pool) { return pools().at(static_cast<size_t>(pool))->device; }

Result cuPointerGetAttribute(void *value, int attribute, Pointer p) {
    Pointer begin;
    Allocation found;
    if (!find_allocation(p, &begin, &found)) return invalid_value;
    switch (attribute) {
    case 2:
        return *static_cast<unsigned *>(value) = 2, success;
    case 9:
        return *static_cast<int *>(value) = found.device, success;
    case 11:
        return *static_cast<Pointer *>(value) = begin, success;
    case 12:
        return *static_cast<size_t *>(value) = found.bytes, success;
    default:
        return invalid_value;
    }
}

Result cuMemAlloc_v2(Pointer *p, size_t bytes) {
    if (!may_do_at_once()) return capture_unsupported;
    return allocate(p, bytes, current_context() ? current_device() : 0, nullptr);
}
Result cuMemFree_v2(Pointer p) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!allocations().erase(p)) return invalid_value;
    std::free(reinterpret_cast<void *>(p));
    return success;
}
// A stream does here what it is told at once. Fresh memory holds NaN, and freed memory is gone.
Result cuMemAllocAsync(Pointer *p, size_t bytes, void *stream) {
    if (const Result asked = failure("cuMemAllocAsync")) return asked;
    if (!current_context()) return invalid_context;
    const Result result = allocate(p, bytes, current_device(), stream);
    stream_of_last = stream;
    if (!result) std::memset(reinterpret_cast<void *>(*p), 0xff, bytes);
    return result;
}
Result cuMemFreeAsync(Pointer p, void *stream) {
    Pointer begin;
    Allocation found;
    if (!find_allocation(p, &begin, &found) || found.stream != stream) return invalid_value;
    return cuMemFree_v2(p);
}

Result cuMemPoolCreate(Pool **pool, const PoolProperties *properties) {
    if (const Result asked = failure("cuMemPoolCreate")) return asked;
    if (!may_do_at_once()) return capture_unsupported;
    const auto &p = *properties;
    bool others = p.security;
    for (const unsigned char byte : p.others) others = others || byte;
    if (p.allocation != 1 || p.handles || p.location != 1 || p.device < 0 || p.device >= devices || others)
        return invalid_value;
    const std::lock_guard<std::mutex> lock(mutex);
    pools().push_back(new Pool{p.device});
    return *pool = pools().back(), success;
}
Result cuMemPoolSetAttribute(Pool *pool, int attribute, void *value) {
    if (attribute != 4) return invalid_value;
    return std::memcpy(&pool->kept, value, sizeof pool->kept), success;
}
Result cuMemAllocFromPoolAsync(Pointer *p, size_t bytes, const Pool *pool, void *stream) {
    if (const Result asked = failure("cuMemAllocFromPoolAsync")) return asked;
    if (current_device() != pool->device) return invalid_context;
    return cuMemAllocAsync(p, bytes, stream);
}
Result cuMemsetD32Async(Pointer p, unsigned value, size_t words, void *stream) {
    if (const Result asked = failure("cuMemsetD32Async")) return asked;
    if (!current_context()) return invalid_context;
    Pointer begin;
    Allocation found;
    if (p % sizeof value || !find_allocation(p, &begin, &found) || p + words * sizeof value > begin + found.bytes)
        return invalid_value;
    stream_of_last = stream;
    for (size_t i = 0; i < words; i++)
        std::memcpy(reinterpret_cast<char *>(p) + i * sizeof value, &value, sizeof value);
    return success;
}
Result cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes, void *) {
    return std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes), success;
}
Result cuMemcpyHtoD_v2(Pointer to, const void *from, size_t bytes) {
    return std::memcpy(reinterpret_cast<void *>(to), from, bytes), success;
}
Result cuMemcpyDtoH_v2(void *to, Pointer from, size_t bytes) {
    return std::memcpy(to, reinterpret_cast<void *>(from), bytes), success;
}
}

} // namespace gyre::fake_cuda
