#include "cuda/driver/workspace.h"

#include "cuda/driver/pool.h"
#include "cuda/driver/tensors.h"

namespace gyre::cuda {

Workspace::~Workspace() {
    if (owned) driver.MemFreeAsync(owned, stream);
}

gyre_status Workspace::acquire(Device device, void *callers, size_t callers_bytes, size_t needed) {
    if (!needed) return GYRE_OK;
    if (callers || callers_bytes) {
        const auto begin = reinterpret_cast<uintptr_t>(callers),
                   aligned = (begin + cache_line - 1) / cache_line * cache_line;
        if (!callers || callers_bytes < aligned - begin + needed)
            return refuse(GYRE_WORKSPACE_TOO_SMALL, "workspace", "got %zu bytes, expected %zu",
                          callers ? callers_bytes : 0, needed + workspace_slack);
        const int64_t bytes[] = {static_cast<int64_t>(callers_bytes)};
        gyre_tensor as_tensor = gyre_tensor_dense(callers, GYRE_BOOL, 1, bytes);
        Device of_workspace = device;
        GYRE_TRY(check_memory(driver, {&as_tensor, "workspace"}, &of_workspace));
        memory = reinterpret_cast<char *>(aligned);
        return GYRE_OK;
    }
    const Result result = allocate_in_order(driver, device, &owned, needed, stream);
    if (result) owned = 0;
    if (result == not_supported)
        return refuse(GYRE_UNSUPPORTED, "workspace",
                      "got NULL, expected %zu bytes: the CUDA driver has none in a stream's order",
                      needed + workspace_slack);
    if (result == out_of_memory) return fail(Failure::out_of_memory, "workspace: no %zu bytes on the device", needed);
    if (result) return fail(Failure::internal, "workspace: cannot be had (%s)", driver.text(result));
    memory = reinterpret_cast<char *>(owned);
    return GYRE_OK;
}

} // namespace gyre::cuda
