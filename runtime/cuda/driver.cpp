#include "cuda/driver.h"

#include <cstdio>

#if defined(__linux__)
#include <dlfcn.h>
#endif

namespace gyre::cuda {
namespace {

constexpr int oldest_major = 8; // compute capability

struct Loaded {
    Driver driver{};
    bool usable = false;
    char why[160] = "";

    Loaded() {
#if defined(__linux__)
        // Never closed: its threads outlive whoever closes it.
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            std::snprintf(why, sizeof why, "there is no CUDA driver (libcuda.so.1)");
            return;
        }
        const auto find = [&](auto *function, const char *name) {
            *reinterpret_cast<void **>(function) = dlsym(library, name);
            if (!*function && !*why) std::snprintf(why, sizeof why, "the CUDA driver is too old: it has no %s", name);
        };
        find(&driver.Init, "cuInit");
        find(&driver.DriverGetVersion, "cuDriverGetVersion");
        find(&driver.GetErrorName, "cuGetErrorName");
        find(&driver.GetErrorString, "cuGetErrorString");
        find(&driver.DeviceGet, "cuDeviceGet");
        find(&driver.DeviceGetCount, "cuDeviceGetCount");
        find(&driver.DeviceGetAttribute, "cuDeviceGetAttribute");
        find(&driver.DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
        find(&driver.CtxGetCurrent, "cuCtxGetCurrent");
        find(&driver.CtxPushCurrent, "cuCtxPushCurrent_v2");
        find(&driver.CtxPopCurrent, "cuCtxPopCurrent_v2");
        find(&driver.CtxGetDevice, "cuCtxGetDevice");
        find(&driver.PointerGetAttribute, "cuPointerGetAttribute");
        find(&driver.ModuleLoadData, "cuModuleLoadData");
        find(&driver.ModuleGetFunction, "cuModuleGetFunction");
        find(&driver.FuncSetAttribute, "cuFuncSetAttribute");
        find(&driver.LaunchKernel, "cuLaunchKernel");
        if (*why) return;
        *reinterpret_cast<void **>(&driver.CtxGetId) = dlsym(library, "cuCtxGetId");
        *reinterpret_cast<void **>(&driver.MemAllocAsync) = dlsym(library, "cuMemAllocAsync");
        *reinterpret_cast<void **>(&driver.MemFreeAsync) = dlsym(library, "cuMemFreeAsync");
        if (const Result result = driver.Init(0)) {
            std::snprintf(why, sizeof why, "the CUDA driver cannot be initialised (%s)", driver.text(result));
            return;
        }
        int devices = 0;
        if (driver.DeviceGetCount(&devices) || !devices) {
            std::snprintf(why, sizeof why, "there is no CUDA device");
            return;
        }
        usable = true;
#else
        std::snprintf(why, sizeof why, "CUDA is used on Linux only");
#endif
    }
};

const Loaded &loaded() {
    static const Loaded once;
    return once;
}

} // namespace

const char *Driver::text(Result result) const {
    static thread_local char text[128];
    const char *name = nullptr, *meaning = nullptr;
    if (GetErrorName(result, &name) || !name) name = "unknown error";
    if (GetErrorString(result, &meaning) || !meaning) meaning = "no description";
    std::snprintf(text, sizeof text, "%s: %s", name, meaning);
    return text;
}

const Driver *find_driver(const char **why) {
    const Loaded &l = loaded();
    *why = l.why;
    return l.usable ? &l.driver : nullptr;
}

bool available() {
    const char *why;
    const Driver *driver = find_driver(&why);
    int devices = 0;
    if (!driver || driver->DeviceGetCount(&devices)) return false;
    for (int i = 0; i < devices; i++) {
        Device device;
        int major = 0;
        if (!driver->DeviceGet(&device, i) && !driver->DeviceGetAttribute(&major, device_compute_major, device) &&
            major >= oldest_major)
            return true;
    }
    return false;
}

} // namespace gyre::cuda
