/// The angles of tokens as rotary's kernels on devices take them, which form those of their tokens themselves.
#pragma once
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"
#include "cuda/rotary/angles.h"

namespace gyre::cuda {

class TokenAngles {
public:
    /// `name`: of the rope in messages. Errors: UNSUPPORTED (more pairs than kernels take), OUT_OF_MEMORY.
    gyre_status prepare(const Rotation &rotation, const char *name, gyre_context::Frequencies &cache);

    /// Views the angles of `tokens` tokens from `token` on, in `batches` batch entries from `batch` on. Errors: UNSUPPORTED (strides out of reach).
    gyre_status place(const Positions &positions, const char *name, int64_t batch, int64_t token, int64_t batches,
                      int64_t tokens);

    void add_to(KernelArguments<RotaryCudaArguments> *arguments);

private:
    static constexpr int most_pairs = 256; // of a kernel, which is handed their frequencies by value

    const Rotation *rotation = nullptr;
    uint64_t frequencies[most_pairs] = {};
    uint8_t axis_of_pair[most_pairs] = {};
    Buffer frequencies_view, axes_view, cos_view, sin_view;
    DevicePositions of_tokens;
    bool has_tables = false, per_token = false;
    int32_t position_offset = 0;
    float scale = 1;
};

} // namespace gyre::cuda
