/// The stages that the body of a loop is made of: see step_pipeline.h.
#pragma once
#include <Halide.h>

#include <cstdint>
#include <vector>

namespace gyre {

/// The memory in which a stage leaves what the next one reads.
struct StageRing {
    Halide::Internal::Stmt allocated;
    int64_t size; // of a copy, in elements
    const Halide::Internal::Allocate &allocation() const { return *allocated.as<Halide::Internal::Allocate>(); }
};

/// A loop's body in stages.
struct StepStages {
    std::vector<Halide::Internal::Stmt> each;
    std::vector<StageRing> rings; // rings[i]: written by each[i] and read by each[i + 1]
};

/// Cuts a body where it allocates what its first statement produces: that is a stage, and what reads it is the next one.
/// A body that does not begin so is one stage.
StepStages stages_of(const Halide::Internal::Stmt &body);

} // namespace gyre
