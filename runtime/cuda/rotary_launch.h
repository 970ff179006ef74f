/// The launches that rotate one tensor: of gyre_rotary(), and of attention before it.
#pragma once
#include "cuda/launch.h"
#include "cuda/token_angles.h"
#include "rotary/rotary_call.h"
#include "rotary/rotary_kernel.h"

namespace gyre::cuda {

/// Sequences that follow each other in the tokens of batch entry 0, whose bounds the device alone knows.
struct PackedTokens {
    const int32_t *bounds = nullptr; // NULL: a batch entry is a sequence
    int64_t sequences = 1;
};

struct RotaryLaunch {
    const RotaryKernel *kernel;
    const Rotation &rotation;
    const Positions &positions; // if none are given: of packed tokens, counted from their sequence's first
    PackedTokens packed;
    const char *rope; // in messages
    float direction;  // +1: rotate, -1: rotate back
};

/// Queues what rotates a tensor, and copies its other features. `angles` are prepared.
gyre_status rotate(gyre_context &context, const Scope &scope, const RotaryLaunch &what, const RotatedTensor &tensor,
                   TokenAngles *angles);

} // namespace gyre::cuda
