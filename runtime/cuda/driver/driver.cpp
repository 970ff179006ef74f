#include "cuda/driver/driver.h"

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
        const auto find_optional = [&](auto *function, const char *name) {
            *reinterpret_cast<void **>(function) = dlsym(library, name);
        };
        int version = 0;
        const auto find = [&](auto *function, const char *name) {
            find_optional(function, name);
            if (!*function && !*why)
                std::snprintf(why, sizeof why, "the CUDA driver, of CUDA %d.%d, is too old: it has no %s",
                              version / 1000, version % 1000 / 10, name);
        };
        find(&driver.DriverGetVersion, "cuDriverGetVersion");
        if (!*why && !driver.DriverGetVersion(&version) && version < oldest_version) {
            std::snprintf(why, sizeof why, "the CUDA driver, of CUDA %d.%d, is too old, expected %d.%d or later",
                          version / 1000, version % 1000 / 10, oldest_version / 1000, oldest_version % 1000 / 10);
            return;
        }
        find(&driver.Init, "cuInit");
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
        find(&driver.MemsetD32Async, "cuMemsetD32Async");
        if (*why) return;
        find_optional(&driver.CtxGetId, "cuCtxGetId");
        find_optional(&driver.MemAllocAsync, "cuMemAllocAsync");
        find_optional(&driver.MemFreeAsync, "cuMemFreeAsync");
        find_optional(&driver.MemPoolCreate, "cuMemPoolCreate");
        find_optional(&driver.MemPoolSetAttribute, "cuMemPoolSetAttribute");
        find_optional(&driver.MemAllocFromPoolAsync, "cuMemAllocFromPoolAsync");
        find_optional(&driver.ThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode");
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

bool offers(const Driver &driver, Device device, std::string_view feature) {
    int major = 0, minor = 0;
    if (driver.DeviceGetAttribute(&major, device_compute_major, device)) return false;
    if (feature != hopper_feature) return major >= oldest_major;
    // Code for 9.0a runs on no other device.
    return major == 9 && !driver.DeviceGetAttribute(&minor, device_compute_minor, device) && minor == 0;
}

bool available(std::string_view feature) {
    const char *why;
    const Driver *driver = find_driver(&why);
    int devices = 0;
    if (!driver || driver->DeviceGetCount(&devices)) return false;
    for (int i = 0; i < devices; i++) {
        Device device;
        if (!driver->DeviceGet(&device, i) && offers(*driver, device, feature)) return true;
    }
    return false;
}

} // namespace gyre::cuda
