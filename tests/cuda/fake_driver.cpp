// A libcuda.so.1 without a device: the functions that the runtime and the tests use, over kernels that were compiled for this
// machine. It is strict where a real driver is: memory that it did not hand out is no device's, a function takes no more than
// 48 KB of shared memory unless it was told so, and a launch has the grid, block and argument limits of a device.
#include "emulation/block.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

using Result = int;
using Pointer = uint64_t;
constexpr Result success = 0, invalid_value = 1, out_of_memory = 2, invalid_device = 101, invalid_context = 201,
                 no_binary = 209, invalid_handle = 400, not_found = 500;
constexpr Result context_is_destroyed = 709, capture_unsupported = 900;

std::mutex mutex;
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

constexpr int most_devices = 2;
int devices = 1; // that the tests ask for
struct Context {
    unsigned long long id;
    int device;
};
Context primaries[most_devices] = {{1, 0}, {2, 1}};
long primaries_retained = 0;

// Code is loaded into a context, and its functions are launched there and nowhere else.
struct Function {
    const gyre::emulation::Entry *entry;
    const Context *context;
    int most_shared = 48 << 10;
};
struct Module {
    const Context *context;
    std::map<std::string, Function> functions;
};

struct Pool {
    int device;
    uint64_t kept = 0;
};
std::vector<Pool *> &pools() {
    static std::vector<Pool *> all;
    return all;
}

/// The context of each stream that was created here; others are of any.
std::map<void *, const Context *> &streams() {
    static std::map<void *, const Context *> all;
    return all;
}

// Static TLS: AddressSanitizer takes the header of its own block before a dynamically allocated one for an older glibc's, where that
// begins a page, and LeakSanitizer then scans the addresses that it reads there.
thread_local Context *current [[gnu::tls_model("initial-exec")]] = nullptr;
thread_local Context *below [[gnu::tls_model("initial-exec")]] = nullptr;

// What the tests ask for: one error for the next call of one function.
std::string failing_function;
Result failing_result = 0;
Result failure(const char *function) {
    if (failing_function != function) return success;
    failing_function.clear();
    return failing_result;
}
int compute_major = 8, multiprocessors = 12;
std::vector<unsigned> grids_z; // of all launches
void *last_stream = nullptr;
int last_device = -1; // of a launch

/// A line "entry threads shared_bytes" for each launch, in the file that the environment names.
void log_launch(const char *entry, unsigned threads, unsigned shared_bytes) {
    static const char *path = std::getenv("FAKE_CUDA_LAUNCHES");
    if (!path) return;
    if (std::FILE *file = std::fopen(path, "a")) {
        std::fprintf(file, "%s %u %u\n", entry, threads, shared_bytes);
        std::fclose(file);
    }
}

struct Event {
    std::chrono::steady_clock::time_point time;
};
bool capturing = false;
enum CaptureMode { global, thread_local_mode, relaxed };
int captures_as = global;
thread_local int own_mode [[gnu::tls_model("initial-exec")]] = global;

/// Whether the thread may do what no graph can hold; it ends what is being captured otherwise.
bool may_do_at_once() { return !capturing || captures_as == relaxed || own_mode == relaxed; }

} // namespace

extern "C" {

// For tests alone.
void fake_cuda_fail(const char *function, int result) {
    failing_function = function;
    failing_result = result;
}
void fake_cuda_set_compute_major(int major) { compute_major = major; }
void fake_cuda_set_multiprocessors(int count) { multiprocessors = count; }
long fake_cuda_launches() { return static_cast<long>(grids_z.size()); }
long fake_cuda_grid_z(long launch) { return grids_z.at(static_cast<size_t>(launch)); }
void *fake_cuda_last_stream() { return last_stream; }
long fake_cuda_violations() { return gyre::emulation::violations(); }
long fake_cuda_allocations() {
    const std::lock_guard<std::mutex> lock(mutex);
    return static_cast<long>(allocations().size());
}
long fake_cuda_primaries_retained() { return primaries_retained; }
long fake_cuda_contexts_pushed() { return current != nullptr; }
void fake_cuda_set_devices(int count) { devices = count; }
int fake_cuda_last_device() { return last_device; }
long fake_cuda_pools() { return static_cast<long>(pools().size()); }
uint64_t fake_cuda_kept_by_pool(long pool) { return pools().at(static_cast<size_t>(pool))->kept; }
int fake_cuda_device_of_pool(long pool) { return pools().at(static_cast<size_t>(pool))->device; }

Result cuInit(unsigned) { return failure("cuInit"); }
Result cuDriverGetVersion(int *version) {
    const char *asked = std::getenv("FAKE_CUDA_VERSION");
    return *version = asked ? std::atoi(asked) : 12000, success;
}
Result cuGetErrorName(Result, const char **name) { return *name = "CUDA_ERROR_FAKE", success; }
Result cuGetErrorString(Result, const char **text) { return *text = "as the test asked", success; }
Result cuDeviceGet(int *device, int ordinal) {
    return *device = ordinal, ordinal >= 0 && ordinal < devices ? success : invalid_device;
}
Result cuDeviceGetCount(int *count) { return *count = devices, success; }
Result cuDeviceGetAttribute(int *value, int attribute, int) {
    *value = attribute == 75 ? compute_major : attribute == 16 ? multiprocessors : 0;
    return success;
}
Result cuDevicePrimaryCtxRetain(Context **context, int device) {
    if (const Result asked = failure("cuDevicePrimaryCtxRetain")) return asked;
    if (device < 0 || device >= devices) return invalid_device;
    primaries_retained++;
    return *context = &primaries[device], success;
}
Result cuCtxGetCurrent(Context **context) { return *context = current, success; }
Result cuCtxPushCurrent_v2(Context *context) {
    if (current && current != context) return invalid_value;
    if (failing_function == "cuDevicePrimaryCtxRetain") return context_is_destroyed; // so that it is asked for again
    if (const Result asked = failure("cuCtxPushCurrent_v2")) return asked;
    below = current;
    current = context;
    return success;
}
Result cuCtxPopCurrent_v2(Context **context) {
    if (!current) return invalid_value;
    *context = current;
    current = below;
    below = nullptr;
    return success;
}
Result cuCtxGetDevice(int *device) {
    return *device = current ? current->device : -1, current ? success : invalid_context;
}
Result cuCtxGetId(Context *context, unsigned long long *id) { return *id = context ? context->id : 0, success; }
Result cuCtxSynchronize() { return failure("cuCtxSynchronize"); }

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

Result cuThreadExchangeStreamCaptureMode(int *mode) { return std::swap(*mode, own_mode), success; }

Result cuModuleLoadData(Module **module, const void *image) {
    if (const Result asked = failure("cuModuleLoadData")) return asked;
    if (!current) return invalid_context;
    if (!may_do_at_once()) return capturing = false, capture_unsupported;
    // The magic number of a fat binary, which a real driver looks at first.
    uint32_t magic;
    std::memcpy(&magic, image, sizeof magic);
    if (magic != 0xba55ed50) return no_binary;
    *module = new Module{current, {}};
    return success;
}
Result cuModuleGetFunction(Function **function, Module *module, const char *name) {
    const gyre::emulation::Entry *entry = gyre::emulation::find_entry(name);
    if (!entry) return not_found;
    const std::lock_guard<std::mutex> lock(mutex);
    *function = &module->functions[name];
    (*function)->entry = entry;
    (*function)->context = module->context;
    return success;
}
Result cuFuncSetAttribute(Function *function, int attribute, int value) {
    if (const Result asked = failure("cuFuncSetAttribute")) return asked;
    constexpr int most = 99 << 10; // of compute capability 8.6 and 8.9, which have the least
    if (attribute != 8 || value > most) return invalid_value;
    function->most_shared = value;
    return success;
}

Result cuLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **arguments, void **extra) {
    if (const Result asked = failure("cuLaunchKernel")) return asked;
    if (!current || extra || !gx || !gy || !gz || gy > 65535 || gz > 65535 || !bx || !by || bz != 1 || bx * by > 1024 ||
        shared > static_cast<unsigned>(function->most_shared))
        return invalid_value;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto created = streams().find(stream);
    if (function->context != current || (created != streams().end() && created->second != current))
        return invalid_handle;
    grids_z.push_back(gz);
    last_stream = stream;
    last_device = current->device;
    log_launch(function->entry->name, bx * by, shared);
    const auto i = [](unsigned extent) { return static_cast<int>(extent); };
    gyre::emulation::run_grid(*function->entry, {i(gx), i(gy), i(gz)}, {i(bx), i(by), i(bz)}, shared, arguments);
    return success;
}

Result fake_cuda_allocate(Pointer *p, size_t bytes, int device, void *stream) {
    void *memory = nullptr;
    if (posix_memalign(&memory, 256, bytes)) return out_of_memory;
    *p = reinterpret_cast<Pointer>(memory);
    const std::lock_guard<std::mutex> lock(mutex);
    allocations()[*p] = {bytes, device, stream};
    return success;
}
Result cuMemAlloc_v2(Pointer *p, size_t bytes) {
    if (!may_do_at_once()) return capturing = false, capture_unsupported;
    return fake_cuda_allocate(p, bytes, current ? current->device : 0, nullptr);
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
    if (!current) return invalid_context;
    const Result result = fake_cuda_allocate(p, bytes, current->device, stream);
    if (!result) std::memset(reinterpret_cast<void *>(*p), 0xff, bytes);
    return result;
}
Result cuMemFreeAsync(Pointer p, void *stream) {
    Pointer begin;
    Allocation found;
    if (!find_allocation(p, &begin, &found) || found.stream != stream) return invalid_value;
    return cuMemFree_v2(p);
}

struct PoolProperties { // CUmemPoolProps
    int allocation, handles, location, device;
    void *security;
    unsigned char others[64];
};
Result cuMemPoolCreate(Pool **pool, const PoolProperties *properties) {
    if (const Result asked = failure("cuMemPoolCreate")) return asked;
    if (!may_do_at_once()) return capturing = false, capture_unsupported;
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
    if (!current || current->device != pool->device) return invalid_context;
    return cuMemAllocAsync(p, bytes, stream);
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

// Streams do what they are told at once, also while they are captured: a graph is what has run, and its replay does nothing.
Result cuStreamCreate(void **stream, unsigned) {
    if (!current) return invalid_context;
    const std::lock_guard<std::mutex> lock(mutex);
    *stream = new char;
    streams()[*stream] = current;
    return success;
}
Result cuStreamSynchronize(void *) { return capturing ? invalid_value : success; }
Result cuStreamBeginCapture_v2(void *, int mode) {
    if (capturing) return invalid_value;
    captures_as = mode;
    return capturing = true, success;
}
Result cuStreamEndCapture(void *, void **graph) {
    if (!capturing) return invalid_value;
    capturing = false;
    return *graph = &capturing, success;
}
Result cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
    return *executable = graph, success;
}
Result cuGraphLaunch(void *, void *) { return success; }

Result cuEventCreate(Event **event, unsigned) { return *event = new Event, success; }
Result cuEventRecord(Event *event, void *) { return event->time = std::chrono::steady_clock::now(), success; }
Result cuEventSynchronize(Event *) { return success; }
Result cuEventElapsedTime(float *milliseconds, const Event *begin, const Event *end) {
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return success;
}
Result cuEventDestroy_v2(Event *event) { return delete event, success; }

Result cuDeviceGetName(char *name, int bytes, int) {
    return std::snprintf(name, static_cast<size_t>(bytes), "emulated"), success;
}
Result cuFuncGetAttribute(int *value, int, const Function *) { return *value = 0, success; }
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const Function *, int, size_t) {
    return *blocks = 1, success;
}
}
