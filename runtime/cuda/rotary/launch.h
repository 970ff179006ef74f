/// The launches that rotate one tensor: of gyre_rotary(), and of attention before it.
#pragma once
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"
#include "cuda/driver/launch.h"
#include "cuda/rotary/token_angles.h"
#include "rotary/rotary_call.h"
#include "rotary/rotary_kernel.h"

namespace gyre::cuda {

/// Sequences that follow each other in the tokens of batch entry 0, whose bounds the device alone knows.
struct PackedTokens {
    const int32_t *bounds = nullptr; // NULL: a batch entry is a sequence
    int64_t sequences = 1;
};

/// What kernels of rotary are told of a row: which features are rotated, and which are copied beside them.
class RotatedFeatures {
public:
    /// `sign`: of the direction. `in_place`: features beside the rotated ones stay.
    RotatedFeatures(const Rotation &by, int64_t dim, float sign, bool in_place);

    /// The arguments point into this object.
    void add_to(KernelArguments<RotaryCudaArguments> *arguments) const;

private:
    int32_t offset, pairs, end, before, after;
    float direction;
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
