/// Fused attention on CUDA: HOW it is computed.
#pragma once
#include "algorithm.h"

namespace gyre::attention {

/// None was measured yet.
struct CudaAttentionKnobs {
    int stages = 2; // blocks of keys and values that shared memory holds, one of which is computed with
};

void schedule_cuda(CudaStages &s, const CudaAttentionKnobs &k);

} // namespace gyre::attention
