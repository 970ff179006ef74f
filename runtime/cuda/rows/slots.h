/// The launch that writes tokens into slots that the device finds: of a cache, or from pages into rows that are dense.
#pragma once
#include "cuda/driver/launch.h"
#include "cuda/rotary/token_angles.h"
#include "rotary/rotary_kernel.h"

namespace gyre::cuda {

/// Lists of the device. generators/rotary/cache_slots.h says what they mean.
struct SlotLists {
    const int32_t *bounds = nullptr; // of packed tokens; NULL: an entry's tokens are a sequence's
    const int32_t *held = nullptr;   // a number of keys for each sequence; NULL: none, or from pages all
    int64_t sequences = 0;
    const int32_t *table = nullptr;
    int64_t table_pages = 1, table_stride = 0;
    int32_t page_bits = 0;
    bool paged = false;      // the table is of what is written
    bool from_pages = false; // it is of what is read
    int64_t capacity = 0;    // keys that a sequence has room for
};

/// What is read and written. Of what is written, each entry begins at slot 0.
struct SlotTensors {
    Heads from, to;
    int64_t entries = 0, tokens = 0; // of the launch
};

/// Queues it. `angles` are placed; features outside of the rotation's are copied.
gyre_status write_slots(gyre_context &context, const Scope &scope, const RotaryKernel &kernel, const Rotation &rotation,
                        TokenAngles *angles, const SlotLists &lists, const SlotTensors &tensors);

} // namespace gyre::cuda
