// Kernels of a program's own generators (gyre_add_generator() in CMake): which of them this machine runs, and their calls.
#include "core/device.h"
#include "core/entry.h"
#include "gyre/kernels.h"

using namespace gyre;

namespace {

bool runs(const gyre_kernel &kernel, gyre_device device) {
    const Target *target = kernel.target ? find_target(kernel.target) : nullptr;
    return target && target->device == device && obtain(*target);
}

gyre_status run_here(const gyre_kernel &kernel, void **arguments) {
    void *none = nullptr;
    arguments[0] = &none;
    const int code = kernel.call(arguments);
    return code ? fail(Failure::internal, "%s: the kernel failed (Halide's error %d)", kernel.name, code) : GYRE_OK;
}

} // namespace

extern "C" const gyre_kernel *gyre_choose_kernel(const gyre_kernel *kernels, size_t count, gyre_device device) {
    return enter_or(static_cast<const gyre_kernel *>(nullptr), [&]() -> const gyre_kernel * {
        for (size_t i = 0; kernels && i < count; i++)
            if (runs(kernels[i], device)) return &kernels[i];
        return nullptr;
    });
}

extern "C" gyre_status gyre_run_kernel(const gyre_kernel *kernel, void **arguments, int32_t device, void *stream) {
    return enter([&] {
        if (!kernel || !kernel->call || !kernel->name)
            return refuse(GYRE_BAD_ARGUMENT, "kernel", "got NULL, expected a kernel of gyre_add_generator()");
        if (!arguments)
            return refuse(GYRE_BAD_ARGUMENT, "arguments", "got NULL, expected the addresses of all arguments");
        const gyre_device where = kernel->image ? GYRE_CUDA : GYRE_CPU;
        if (where == GYRE_CUDA && device < 0)
            return refuse(GYRE_BAD_ARGUMENT, "device", "got %d, expected the number of a CUDA device", device);
        if (!runs(*kernel, where))
            return refuse(GYRE_UNSUPPORTED, "kernel", "%s does not run on this machine", kernel->name);
        if (where == GYRE_CPU) return run_here(*kernel, arguments);
        return linked_device()->run(*kernel, arguments, device, stream);
    });
}
