#include "cuda/driver/launch.h"

#include "cuda/driver/functions.h"

#include <atomic>

namespace gyre::cuda {
namespace {

constexpr int most_blocks = 65535; // along y and z
constexpr int most_devices = 64;   // whose contexts are remembered

gyre_status launch_entry(const Launches &call, const char *entry, const int (&grid)[3], const int (&block)[3],
                         int shared_bytes, void **arguments) {
    const Driver &driver = call.driver;
    for (const int axis : {1, 2})
        if (grid[axis] > most_blocks)
            return fail(Failure::unsupported,
                        "%s: takes %d blocks, where a device has at most %d: cut the call into parts", call.kernel.name,
                        grid[axis], most_blocks);
    Function function;
    GYRE_TRY(find_function(driver, call.kernel.name, call.kernel.image, entry, shared_bytes, &function));
    const auto u = [](int extent) { return static_cast<unsigned>(extent); };
    const Result result = driver.LaunchKernel(function, u(grid[0]), u(grid[1]), u(grid[2]), u(block[0]), u(block[1]),
                                              u(block[2]), u(shared_bytes), call.stream, arguments, nullptr);
    if (result == out_of_memory) return fail(Failure::out_of_memory, "%s: no memory on the device", call.kernel.name);
    if (result) return fail(Failure::internal, "%s: the launch failed (%s)", call.kernel.name, driver.text(result));
    return GYRE_OK;
}

/// Makes a device's primary context current. It is retained once, by the first call, and for good: releasing it after an
/// asynchronous launch could end the launch, and when the process ends the driver may be gone before whoever would release it. It
/// is retained again if someone has destroyed it meanwhile (cudaDeviceReset).
Result push_primary(const Driver &driver, Device device) {
    static std::atomic<Context> retained[most_devices];
    Context primary = nullptr;
    const bool is_kept = device >= 0 && device < most_devices;
    if (is_kept) primary = retained[device].load();
    if (primary && !driver.CtxPushCurrent(primary)) return success;
    if (const Result result = driver.DevicePrimaryCtxRetain(&primary, device)) return result;
    if (is_kept) retained[device].store(primary);
    return driver.CtxPushCurrent(primary);
}

} // namespace

Scope::~Scope() {
    Context popped;
    if (pushed) driver->CtxPopCurrent(&popped);
}

gyre_status Scope::enter(Device device, void *on) {
    stream = static_cast<Stream>(on);
    const char *why;
    driver = find_driver(&why);
    if (!driver) return fail(Failure::unsupported, "device: %s", why);
    int major = 0, minor = 0;
    driver->DeviceGetAttribute(&major, device_compute_major, device);
    driver->DeviceGetAttribute(&minor, device_compute_minor, device);
    if (major < 8)
        return fail(Failure::unsupported, "device: has compute capability %d.%d, expected 8.0 or later", major, minor);
    Context current = nullptr;
    Device of_current = -1;
    if (!driver->CtxGetCurrent(&current) && current && !driver->CtxGetDevice(&of_current) && of_current == device)
        return GYRE_OK;
    const Result result = push_primary(*driver, device);
    if (result == out_of_memory) return fail(Failure::out_of_memory, "device: no memory for a context");
    if (result) return fail(Failure::internal, "device: its context cannot be used (%s)", driver->text(result));
    pushed = true;
    return GYRE_OK;
}

gyre_status finish_launch(gyre_context &context, const Launches &call, bool ok) {
    if (call.status != GYRE_OK) return call.status;
    if (!ok) return fail(Failure::internal, "%s: the kernel failed", call.kernel.name);
    context.select(call.kernel);
    return GYRE_OK;
}

} // namespace gyre::cuda

extern "C" int gyre_kernel_launch(void *call, const char *entry, int grid_x, int grid_y, int grid_z, int block_x,
                                  int block_y, int block_z, int shared_bytes, void **arguments) {
    auto &launches = *static_cast<gyre::cuda::Launches *>(call);
    const int grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    bool empty = false;
    for (int axis = 0; axis < 3; axis++) empty = empty || grid[axis] <= 0 || block[axis] <= 0;
    if (launches.status == GYRE_OK && !empty)
        launches.status = gyre::cuda::launch_entry(launches, entry, grid, block, shared_bytes, arguments);
    return 0;
}
