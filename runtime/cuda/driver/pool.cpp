#include "cuda/driver/pool.h"

#include "cuda/driver/capture.h"
#include "cuda/driver/functions.h"

#include <map>
#include <mutex>
#include <new>

namespace gyre::cuda {
namespace {

struct Pools {
    std::mutex mutex;
    std::map<unsigned long long, Pool> of_contexts; // nullptr: none can be made

    static Pools &instance() {
        static auto &pools = *new Pools; // the driver may be gone when the process ends
        return pools;
    }
};

Pool make_pool(const Driver &driver, Device device) {
    if (!driver.MemPoolCreate || !driver.MemPoolSetAttribute || !driver.MemAllocFromPoolAsync) return nullptr;
    const OutsideOfCaptures outside(driver);
    PoolProperties properties;
    properties.device = device;
    Pool pool = nullptr;
    if (driver.MemPoolCreate(&pool, &properties)) return nullptr;
    uint64_t kept = kept_bytes;
    driver.MemPoolSetAttribute(pool, pool_release_threshold, &kept); // without it the pool is slower, not wrong
    return pool;
}

/// The pool of the context that is current; nullptr: the default one is to serve.
Pool find_pool(const Driver &driver, Device device) {
    Pools &pools = Pools::instance();
    const std::lock_guard<std::mutex> lock(pools.mutex);
    const auto [place, is_new] = pools.of_contexts.try_emplace(current_context(driver));
    if (is_new) place->second = make_pool(driver, device);
    return place->second;
}

} // namespace

Result allocate_in_order(const Driver &driver, Device device, Pointer *memory, size_t bytes, Stream stream) {
    if (!driver.MemAllocAsync || !driver.MemFreeAsync) return not_supported;
    try {
        if (const Pool pool = find_pool(driver, device))
            return driver.MemAllocFromPoolAsync(memory, bytes, pool, stream);
        return driver.MemAllocAsync(memory, bytes, stream);
    } catch (const std::bad_alloc &) {
        return out_of_memory;
    }
}

} // namespace gyre::cuda
