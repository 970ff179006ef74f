/// Where barriers stand, and what is copied. How a loop that reads rings is told when they are filled is its subclasses'.
#pragma once
#include "fragments.h"
#include "staged_loop.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace gyre::cuda {

class BarrierPlacer : public Halide::Internal::IRMutator {
public:
    /// As of place_barriers().
    BarrierPlacer(const Fragments &fragments, const std::set<std::string> &aligned, bool fenced)
        : fenced(fenced), fragments(fragments), aligned(aligned) {}

protected:
    using IRMutator::visit;
    Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
    Halide::Internal::Stmt visit(const Halide::Internal::Allocate *op) override;
    Halide::Internal::Stmt visit(const Halide::Internal::Evaluate *op) override;
    Halide::Internal::Stmt visit(const Halide::Internal::Store *op) override;
    Halide::Expr visit(const Halide::Internal::Load *op) override;
    Halide::Expr visit(const Halide::Internal::Call *op) override;

    const bool fenced;
    std::set<std::string> shared; // memory, by name

    /// A loop that reads rings, with these filled.
    virtual Halide::Internal::Stmt read_rings(const Halide::Internal::For *loop, const StagedLoop &staged) = 0;
    /// What follows the wait of each thread for its copies: all threads have come so far.
    virtual std::vector<Halide::Internal::Stmt> all_arrive() const = 0;

    /// A barrier, if shared memory was touched since the last one.
    Halide::Internal::Stmt barrier();
    /// The loop's range as variables, which what is in it can name.
    struct Range {
        Halide::Expr first, end;
    };
    static Range range_of(const Halide::Internal::For *loop);
    static Halide::Internal::Stmt with_range(const Halide::Internal::For *loop, const Halide::Internal::Stmt &s);
    /// The loop over that range.
    static Halide::Internal::Stmt over_range(const Halide::Internal::For *loop, const Halide::Internal::Stmt &body);

    /// The statements that fill a slot. Words, too, are copied if `ahead`.
    Halide::Internal::Stmt copies_of(const Halide::Internal::Stmt &fill, bool ahead);
    /// Does what is in a staged loop, which only reads what was there at its beginning.
    Halide::Internal::Stmt in_turn(const Halide::Internal::Stmt &s);
    /// A turn, and behind it the turns that follow without the nests that it enters on a condition, if it has such nests.
    Halide::Internal::Stmt
    with_plain_turns(const Halide::Internal::For *loop, const StagedLoop &staged, const Halide::Internal::Stmt &body,
                     const std::function<Halide::Internal::Stmt(const Halide::Internal::Stmt &)> &turn_of) const;

private:
    const Fragments &fragments;
    const std::set<std::string> &aligned;
    bool is_touched = false; // shared memory, since the last barrier
    bool is_copied = false;  // asynchronously, since then
    bool in_staged_loop = false, is_filled_ahead = false;
};

/// True if some of a statement may not run, or more than once.
bool has_branches(const Halide::Internal::Stmt &s);

} // namespace gyre::cuda
