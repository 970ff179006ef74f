/// A checked rotation of the heads of one or two tensors, by the same angles.
#pragma once
#include "core/tensor.h"
#include "rotary/rotation.h"

namespace gyre {

/// What is rotated, and where the result goes.
struct RotatedTensor {
    Heads from, to;
    const char *from_name, *to_name; // in the caller's arguments
    bool in_place = false;
};

/// What is the same for all tensors of a call, as the caller gave it.
struct RotaryOptions {
    const gyre_rope &rope;
    int32_t reverse;
    const gyre_tensor *positions;
    int64_t position_offset;
};

struct RotaryCall {
    RotatedTensor tensors[2];
    int count = 0;
    Rotation rotation;
    Positions positions;
    float direction = 1;

    /// Adds a tensor: of the type, batch, length and head_dim of the first. Errors name it by these names.
    gyre_status add(const gyre_tensor &from, const char *from_name, const gyre_tensor &to, const char *to_name,
                    gyre_layout layout, bool need_data);

    /// Checks the rest, after all tensors have been added. With `read_lists` false positions are not read, which then are on a device.
    gyre_status check(const RotaryOptions &options, bool need_data, bool read_lists);
};

/// Checks every argument. With `need_data` false data pointers may be NULL. `read_lists`: as above.
gyre_status check_rotary(const gyre_rotary_args &args, bool need_data, RotaryCall *call, bool read_lists = true);
gyre_status check_rotary(const gyre_rotary_qk_args &args, bool need_data, RotaryCall *call, bool read_lists = true);

} // namespace gyre
