/// The angles of a rotation as kernels on devices take them: attention's; positions alone rotary's, too.
#pragma once
#include "core/kernel_call.h"
#include "rotary/rotation.h"

namespace gyre::cuda {

struct DeviceAngles {
    static constexpr int most_pairs = 128; // of any kernel, which is handed their frequencies by value

    /// Errors: OUT_OF_MEMORY, UNSUPPORTED (tables with strides out of reach, as `name`.cos or .sin).
    gyre_status prepare(const Rotation &rotation, const char *name, gyre_context::Frequencies &cache);

    // What kernels take: the angles; and how features pair up.
    Buffer frequencies_view, axes_view, cos_view, sin_view;
    bool has_tables = false;
    float scale = 1;
    int32_t pairs = 0;
    bool interleaved = false;

private:
    uint64_t frequencies[most_pairs] = {};
    int32_t axis_of_pair[most_pairs] = {};
};

/// Positions of tokens as kernels on devices take them.
struct DevicePositions {
    /// Views those of batch entries from `batch` and tokens from `token` on.
    gyre_status place(const Positions &positions, const char *name, int64_t batch, int64_t token, int64_t batches,
                      int64_t tokens, int axes);

    Buffer view;
    bool given = false;
};

} // namespace gyre::cuda
