/// Memory on a device for what one call's launches hand to each other.
#pragma once
#include "cuda/driver/launch.h"

namespace gyre::cuda {

/// The caller's workspace; without one the stream's, which gets it back in its order once this ends: nothing waits. In the
/// device's Scope.
class Workspace {
public:
    explicit Workspace(const Scope &scope) : driver(*scope.driver), stream(scope.stream) {}
    Workspace(const Workspace &) = delete;
    Workspace &operator=(const Workspace &) = delete;
    ~Workspace();

    /// Errors: WORKSPACE_TOO_SMALL, BAD_ARGUMENT (the caller's is no memory of this device), UNSUPPORTED (a driver that has
    /// none in a stream's order), OUT_OF_MEMORY, INTERNAL.
    gyre_status acquire(Device device, void *callers, size_t callers_bytes, size_t needed);

    char *data() const { return memory; }

private:
    const Driver &driver;
    const Stream stream;
    char *memory = nullptr;
    Pointer owned = 0;
};

} // namespace gyre::cuda
