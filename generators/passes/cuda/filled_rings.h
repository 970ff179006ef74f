/// Warps that only copy fill rings (copying_warps.h), and those that compute wait for the slots that they read.
#pragma once
#include "barrier_placer.h"
#include "copying_warps.h"

namespace gyre::cuda {

class FilledRings : public BarrierPlacer {
public:
    FilledRings(const Fragments &fragments, const std::set<std::string> &aligned, bool fenced,
                const CopyingWarps &copying)
        : BarrierPlacer(fragments, aligned, fenced), copying(copying) {}

private:
    const CopyingWarps &copying;
    int computing = 0;      // warps
    Rings rings;            // that copying warps fill, in the loop `rings_loop`
    std::string rings_loop; // by name
    Halide::Internal::Stmt rings_copies;
    using BarrierPlacer::visit;

    Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
    Halide::Internal::Stmt read_rings(const Halide::Internal::For *loop, const StagedLoop &staged) override;
    std::vector<Halide::Internal::Stmt> all_arrive() const override;
    Halide::Internal::Stmt of_threads(const Halide::Internal::For *op);
    Halide::Internal::Stmt fill_all(const Halide::Internal::For *loop);
    /// A statement about a slot: the ring's that has this turn.
    Halide::Internal::Stmt say(const char *what, size_t ring, const Halide::Expr &turn) const;
};

} // namespace gyre::cuda
