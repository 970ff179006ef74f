/// The kernels of gradients on devices that libraries of tests/cuda/CMakeLists.txt have.
#pragma once
#include "support/attention_case.h"

namespace gyre::test {

/// A type and a head size of which there are kernels.
struct Made {
    gyre_dtype type;
    int64_t dim;

    /// The shape has one batch entry and one head, unless the test sets others.
    AttentionShape shape(int64_t lq, int64_t lk) const { return AttentionShape().lengths(lq, lk).dims(dim).of(type); }
};
constexpr Made made[] = {{GYRE_BF16, 64}, {GYRE_F32, 32}};

} // namespace gyre::test
