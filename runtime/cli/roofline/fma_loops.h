/// The loops behind Roofline::fma_gflops(): nothing but independent multiply-adds, as many as hide the latency. They
/// are assembly, so that no compiler can fold, reorder or spill them at any optimisation level.
#pragma once

#include "roofline.h"

#include <cstdint>

namespace gyre::roofline {

struct FmaLoop {
    void (*run)(std::int64_t iterations) =
        nullptr; // iterations >= 1; null: this build or this machine has no such loop
    double flops_per_iteration = 0;
};

/// The loop of an instruction set. Either architecture defines it in its own file.
FmaLoop fma_loop(InstructionSet set);

} // namespace gyre::roofline
