/// The CUDA driver, loaded when it is first asked for: nothing of CUDA is linked.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre::cuda {

using Result = int;
using Device = int;
using Pointer = uint64_t; // in a device's memory
struct ContextState;
struct ModuleState;
struct FunctionState;
struct StreamState;
struct PoolState;
using Context = ContextState *;
using Module = ModuleState *;
using Function = FunctionState *;
using Stream = StreamState *;
using Pool = PoolState *;

// Values of cuda.h that are used here, by NVIDIA's driver API reference.
constexpr Result success = 0, out_of_memory = 2, no_binary_for_gpu = 209, invalid_ptx = 218, unsupported_ptx = 222;
constexpr Result invalid_image = 200,
                 no_ptx_compiler = 221; // what drivers say to images of a format that is new to them
constexpr Result not_supported = 801;
constexpr int pointer_memory_type = 2, pointer_device_ordinal = 9, pointer_range_start = 11, pointer_range_size = 12;
constexpr unsigned memory_type_device = 2;
constexpr int function_max_dynamic_shared = 8;
constexpr int pool_release_threshold = 4; // a uint64_t
constexpr int allocation_pinned = 1, location_device = 1;
constexpr int capture_relaxed = 2;
constexpr int oldest_version = 11000; // of drivers, as DriverGetVersion has it
constexpr int device_multiprocessors = 16, device_compute_major = 75, device_compute_minor = 76,
              device_shared_of_multiprocessor = 81; // bytes

/// CUmemPoolProps.
struct PoolProperties {
    int allocation = allocation_pinned;
    int handles = 0;
    int location = location_device;
    Device device = 0;
    void *security = nullptr;
    unsigned char others[64] = {};
};

/// The driver's functions by their names without cu; versions are those of its header since CUDA 11.
struct Driver {
    Result (*Init)(unsigned);
    Result (*DriverGetVersion)(int *);
    Result (*GetErrorName)(Result, const char **);
    Result (*GetErrorString)(Result, const char **);
    Result (*DeviceGet)(Device *, int);
    Result (*DeviceGetCount)(int *);
    Result (*DeviceGetAttribute)(int *, int, Device);
    Result (*DevicePrimaryCtxRetain)(Context *, Device);
    Result (*CtxGetCurrent)(Context *);
    Result (*CtxPushCurrent)(Context);
    Result (*CtxPopCurrent)(Context *);
    Result (*CtxGetDevice)(Device *);
    Result (*CtxGetId)(Context, unsigned long long *); // NULL before CUDA 12
    Result (*PointerGetAttribute)(void *, int, Pointer);
    Result (*ModuleLoadData)(Module *, const void *);
    Result (*ModuleGetFunction)(Function *, Module, const char *);
    Result (*FuncSetAttribute)(Function, int, int);
    Result (*LaunchKernel)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
                           void **, void **);
    Result (*MemsetD32Async)(Pointer, unsigned, size_t, Stream);

    // In the order of a stream; NULL before CUDA 11.2.
    Result (*MemAllocAsync)(Pointer *, size_t, Stream);
    Result (*MemFreeAsync)(Pointer, Stream);
    Result (*MemPoolCreate)(Pool *, const PoolProperties *);
    Result (*MemPoolSetAttribute)(Pool, int, void *);
    Result (*MemAllocFromPoolAsync)(Pointer *, size_t, Pool, Stream);

    Result (*ThreadExchangeStreamCaptureMode)(int *); // NULL before CUDA 10.1

    /// "CUDA_ERROR_INVALID_VALUE: invalid argument", in a per-thread buffer.
    const char *text(Result result) const;
};

/// The driver; nullptr if there is none that can be used, and `why` then says what is the matter. Loaded and initialised by the
/// first call, and kept. Thread-safe.
const Driver *find_driver(const char **why);

/// What targets ask of devices: those that any kernel is made for, and those of compute capability 9.0.
constexpr std::string_view feature = "cuda", hopper_feature = "cuda_90a";

/// Whether a device has such a feature.
bool offers(const Driver &driver, Device device, std::string_view feature);

/// True if there is a driver and a device that offers the feature.
bool available(std::string_view feature);

} // namespace gyre::cuda
