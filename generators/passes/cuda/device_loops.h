/// The nests of GPU loops that become kernels: what each is launched with.
#pragma once
#include "printer.h"

namespace gyre::cuda {

struct Extents {
    Halide::Expr x = 1, y = 1, z = 1;
};

struct DeviceLoops {
    const Halide::Internal::For *nest;
    Extents grid, block;
    std::vector<KernelArgument> arguments; // in the kernel's order

    /// Threads of a block if their number is constant, else 0.
    int threads() const;
};

/// Reads the nest whose outermost loop is one of blocks.
DeviceLoops read_device_loops(const Halide::Internal::For *nest, const std::map<std::string, int> &by_value);

} // namespace gyre::cuda
