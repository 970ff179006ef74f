/// The launch that writes rows in f32, in any strides: features of linear attention, or a copy of numbers of 16 bits.
#pragma once
#include "core/kernel_call.h"
#include "core/tensor.h"
#include "cuda/driver/launch.h"

namespace gyre::cuda {

/// NULL: no linked kernel reads rows of this type.
const Kernel *find_features(const gyre_context &context, gyre_dtype from);

/// Where f32 rows go.
struct FeatureRows {
    float *data = nullptr;
    int64_t feature_stride = 1, token_stride = 0, head_stride = 0, entry_stride = 0;
};

/// Queues it for all of `from`. `mapped`: elu + 1 of them; else as they are.
gyre_status write_features(gyre_context &context, const Scope &scope, const Kernel &kernel, const Heads &from,
                           const FeatureRows &to, bool mapped);

} // namespace gyre::cuda
