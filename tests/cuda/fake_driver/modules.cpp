// Modules, functions and launches of the driver without a device.
#include "emulation/block.h"
#include "emulation/device_memory.h"
#include "state.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace gyre::fake_cuda {
namespace {

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

} // namespace

extern "C" {

// For tests alone.
long fake_cuda_launches() { return static_cast<long>(grids_z.size()); }
long fake_cuda_grid_z(long launch) { return grids_z.at(static_cast<size_t>(launch)); }
void *fake_cuda_last_stream() { return last_stream; }
int fake_cuda_last_device() { return last_device; }
long fake_cuda_violations() { return gyre::emulation::violations(); }
void fake_cuda_follow_writes(bool follows) { gyre::emulation::follow_device_memory(follows); }

Result cuModuleLoadData(Module **module, const void *image) {
    if (const Result asked = failure("cuModuleLoadData")) return asked;
    if (!current_context()) return invalid_context;
    if (!may_do_at_once()) return capture_unsupported;
    // The magic number of a fat binary, which a real driver looks at first.
    uint32_t magic;
    std::memcpy(&magic, image, sizeof magic);
    if (magic != 0xba55ed50) return no_binary;
    *module = new Module{current_context(), {}};
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
    const int most = (compute_capability() < 9 ? 99 : 227) << 10; // 8.6 and 8.9 have less than 8.0
    if (attribute != 8 || value > most) return invalid_value;
    function->most_shared = value;
    return success;
}

Result cuLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **arguments, void **extra) {
    if (const Result asked = failure("cuLaunchKernel")) return asked;
    if (!current_context() || extra || !gx || !gy || !gz || gy > 65535 || gz > 65535 || !bx || !by || bz != 1 ||
        bx * by > 1024 || shared > static_cast<unsigned>(function->most_shared))
        return invalid_value;
    const std::lock_guard<std::mutex> lock(mutex);
    if (function->context != current_context() || !is_of_context(stream, function->context)) return invalid_handle;
    grids_z.push_back(gz);
    last_stream = stream;
    last_device = current_device();
    log_launch(function->entry->name, bx * by, shared);
    const auto i = [](unsigned extent) { return static_cast<int>(extent); };
    gyre::emulation::run_grid(*function->entry, {i(gx), i(gy), i(gz)}, {i(bx), i(by), i(bz)}, shared, arguments);
    return success;
}
Result cuFuncGetAttribute(int *value, int, const Function *) { return *value = 0, success; }
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const Function *, int, size_t) {
    return *blocks = 1, success;
}
}

} // namespace gyre::fake_cuda
