/// What Halide's autoschedulers want to know beforehand: how large tensors and numbers usually are. Kernels that are
/// scheduled by hand do not need it.
#pragma once
#include <Halide.h>

#include <initializer_list>

namespace gyre {

/// Every tensor begins at 0 and has these extents.
template <typename... Tensors>
void estimate_extents(std::initializer_list<int> extents, Tensors &...tensors) {
    Halide::Region region;
    for (const int extent : extents) region.push_back({0, extent});
    (tensors.set_estimates(region), ...);
}

template <typename Value, typename... Scalars>
void estimate_value(Value value, Scalars &...scalars) {
    (scalars.set_estimate(value), ...);
}

} // namespace gyre
