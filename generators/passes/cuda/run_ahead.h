/// All threads fill rings, turns ahead of what they compute, with one barrier a turn.
#pragma once
#include "barrier_placer.h"

namespace gyre::cuda {

class RunAhead : public BarrierPlacer {
public:
    using BarrierPlacer::BarrierPlacer;

private:
    Halide::Internal::Stmt read_rings(const Halide::Internal::For *loop, const StagedLoop &staged) override;
    std::vector<Halide::Internal::Stmt> all_arrive() const override;
    Halide::Internal::Stmt fill(const Halide::Internal::For *loop, const StagedLoop &staged, const Halide::Expr &turn);
    Halide::Internal::Stmt arrive(int later) const;
};

} // namespace gyre::cuda
