#include "cuda/driver/functions.h"

#include "core/error.h"
#include "cuda/driver/capture.h"

#include <map>
#include <mutex>
#include <new>
#include <string>
#include <tuple>

namespace gyre::cuda {
namespace {

struct Loaded {
    Function function = nullptr;
    int shared_bytes = 0; // that it was allowed
};

struct Cache {
    std::mutex mutex;
    std::map<std::pair<unsigned long long, const void *>, Module> modules;
    std::map<std::tuple<unsigned long long, const void *, std::string>, Loaded> functions;

    static Cache &instance() {
        static auto &cache = *new Cache; // the driver may be gone when the process ends
        return cache;
    }
};

gyre_status explain(const Driver &driver, const char *kernel, const char *what, Result result) {
    if (result == out_of_memory) return fail(Failure::out_of_memory, "%s: no memory on the device to %s", kernel, what);
    if (result == no_binary_for_gpu || result == invalid_ptx || result == unsupported_ptx || result == invalid_image ||
        result == no_ptx_compiler) {
        int version = 0, major = 0, minor = 0;
        Device device = 0;
        driver.DriverGetVersion(&version);
        if (!driver.CtxGetDevice(&device)) {
            driver.DeviceGetAttribute(&major, device_compute_major, device);
            driver.DeviceGetAttribute(&minor, device_compute_minor, device);
        }
        return fail(
            Failure::unsupported,
            "%s: has no machine code for this device, of compute capability %d.%d, or the driver, of CUDA %d.%d, is "
            "too old for it (%s)",
            kernel, major, minor, version / 1000, version % 1000 / 10, driver.text(result));
    }
    return fail(Failure::internal, "%s: could not %s (%s)", kernel, what, driver.text(result));
}

gyre_status find(const Driver &driver, const char *kernel, const void *image, const char *entry, int shared_bytes,
                 Function *function) {
    Cache &cache = Cache::instance();
    const std::lock_guard<std::mutex> lock(cache.mutex);
    const unsigned long long context = current_context(driver);
    Loaded &known = cache.functions[{context, image, entry}];
    if (!known.function) {
        Module &module = cache.modules[{context, image}];
        if (!module) {
            const OutsideOfCaptures outside(driver);
            if (const Result result = driver.ModuleLoadData(&module, image)) {
                module = nullptr;
                return explain(driver, kernel, "load the kernel", result);
            }
        }
        if (const Result result = driver.ModuleGetFunction(&known.function, module, entry)) {
            known.function = nullptr;
            return explain(driver, kernel, "find its function", result);
        }
    }
    if (shared_bytes > known.shared_bytes) {
        if (const Result result = driver.FuncSetAttribute(known.function, function_max_dynamic_shared, shared_bytes))
            return fail(Failure::unsupported, "%s: needs %d bytes of shared memory, more than this device has (%s)",
                        kernel, shared_bytes, driver.text(result));
        known.shared_bytes = shared_bytes;
    }
    *function = known.function;
    return GYRE_OK;
}

} // namespace

unsigned long long current_context(const Driver &driver) {
    Context context = nullptr;
    unsigned long long id = 0;
    if (driver.CtxGetCurrent(&context)) return 0;
    if (driver.CtxGetId && !driver.CtxGetId(context, &id)) return id;
    return reinterpret_cast<uintptr_t>(context);
}

gyre_status find_function(const Driver &driver, const char *kernel, const void *image, const char *entry,
                          int shared_bytes, Function *function) {
    try {
        return find(driver, kernel, image, entry, shared_bytes, function);
    } catch (const std::bad_alloc &) {
        return fail(Failure::out_of_memory, "%s: no memory to remember its function", kernel);
    }
}

} // namespace gyre::cuda
