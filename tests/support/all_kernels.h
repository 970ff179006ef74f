/// The kernels that are linked.
#pragma once
#include "gyre/gyre.h"

#include <vector>

namespace gyre::test {

inline std::vector<gyre_kernel_info> all_kernels() {
    std::vector<gyre_kernel_info> kernels;
    gyre_kernel_info info;
    while (gyre_kernel_at((int32_t)kernels.size(), &info)) kernels.push_back(info);
    return kernels;
}

} // namespace gyre::test
