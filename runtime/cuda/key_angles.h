/// Angles of an attention call's keys or values on a device, formed once a call: every tile of queries reads them.
#pragma once
#include "attention/call.h"
#include "cuda/angles.h"
#include "cuda/launch.h"

namespace gyre::cuda {

/// The table [sections, rows, 2, pairs] of one rotation: a row a token of k if positions are given, else a row a key of a
/// sequence; a section a batch entry if each has positions of its own.
class KeyAngles {
public:
    /// Off unless `on`. Errors: UNSUPPORTED (no linked kernel forms angles, or the table is out of reach).
    gyre_status prepare(const gyre_context &context, const AttentionCall &call, const Rotation &rotation, bool on,
                        const char *name);

    /// True if one view takes all sections.
    bool in_reach() const {
        return fits_kernel_index({{row_floats, 1}, {rows, row_floats}, {sections, rows * row_floats}});
    }
    size_t bytes() const { return round_up(static_cast<size_t>(sections * rows * row_floats) * sizeof(float)); }
    void place(char *memory) { table = reinterpret_cast<float *>(memory); }

    /// Queues what forms the table.
    gyre_status fill(gyre_context &context, const Scope &scope, DeviceAngles &angles, const Positions &positions,
                     int axes) const;

    /// Views the sections of batch entries from `first` on.
    void view(int64_t first, int64_t batches, Buffer *out) const;

private:
    const Kernel *kernel = nullptr; // NULL: off
    int64_t sections = 0, rows = 0, row_floats = 0;
    float *table = nullptr;
};

} // namespace gyre::cuda
