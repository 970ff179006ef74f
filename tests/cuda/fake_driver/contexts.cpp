// A libcuda.so.1 without a device: the functions that the runtime and the tests use, over kernels that were compiled for this
// machine. It is strict where a real driver is: memory that it did not hand out is no device's, a function takes no more than
// 48 KB of shared memory unless it was told so, and a launch has the grid, block and argument limits of a device.
//
// Here: devices, their contexts, and what tests ask the driver to do wrong. Beside it: memory, modules and launches, streams.
#include "state.h"

#include <cstdio>
#include <cstdlib>

namespace gyre::fake_cuda {

std::mutex mutex;
int devices = 1;

namespace {

constexpr int most_devices = 2;
Context primaries[most_devices] = {{1, 0}, {2, 1}};
long primaries_retained = 0;
int multiprocessors = 12, shared_bytes = 0;
int compute_major = std::getenv("FAKE_CUDA_COMPUTE_MAJOR") ? std::atoi(std::getenv("FAKE_CUDA_COMPUTE_MAJOR")) : 8;

// Static TLS: AddressSanitizer takes the header of its own block before a dynamically allocated one for an older glibc's, where that
// begins a page, and LeakSanitizer then scans the addresses that it reads there.
thread_local Context *current [[gnu::tls_model("initial-exec")]] = nullptr;
thread_local Context *below [[gnu::tls_model("initial-exec")]] = nullptr;

std::string failing_function;
Result failing_result = 0;

} // namespace

Context *current_context() { return current; }
int compute_capability() { return compute_major; }
int current_device() { return current ? current->device : -1; }
bool is_to_fail(const char *function) { return failing_function == function; }
Result failure(const char *function) {
    if (!is_to_fail(function)) return success;
    failing_function.clear();
    return failing_result;
}

extern "C" {

// For tests alone.
void fake_cuda_fail(const char *function, int result) {
    failing_function = function;
    failing_result = result;
}
void fake_cuda_set_compute_major(int major) { compute_major = major; }
void fake_cuda_set_multiprocessors(int count) { multiprocessors = count; }
void fake_cuda_set_shared_bytes(int bytes) { shared_bytes = bytes; }
long fake_cuda_primaries_retained() { return primaries_retained; }
long fake_cuda_contexts_pushed() { return current != nullptr; }
void fake_cuda_set_devices(int count) { devices = count; }

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
    *value = attribute == 75 ? compute_major : attribute == 16 ? multiprocessors : attribute == 81 ? shared_bytes : 0;
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
    if (is_to_fail("cuDevicePrimaryCtxRetain")) return context_is_destroyed; // so that it is asked for again
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

Result cuDeviceGetName(char *name, int bytes, int) {
    return std::snprintf(name, static_cast<size_t>(bytes), "emulated"), success;
}
}

} // namespace gyre::fake_cuda
