#include "run_ahead.h"

#include "barriers.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

// Each turn waits for what it reads, then asks for what a later one reads, and computes while that arrives.
Stmt RunAhead::read_rings(const For *loop, const StagedLoop &staged) {
    _halide_user_assert(!stores_into(staged.body, shared))
        << "CUDA: a loop that shared memory is filled for ahead fills more of it, in the loop " << loop->name << "\n";
    const int ahead = staged.slots - 1;
    const Expr turn = Variable::make(Int(32), loop->name);
    const auto stage = [&](const Expr &of) { return Block::make(fill(loop, staged, of), commit_copies()); };
    const auto turn_of = [&](const Stmt &body) {
        return Block::make({arrive(ahead - 1), stage(turn + ahead), in_turn(body)});
    };
    const Stmt before = barrier();
    std::vector<Stmt> parts;
    for (int i = 0; i < ahead; i++) parts.push_back(stage(simplify(loop->min + i)));
    const Stmt whole = Block::make(statement_of(staged_turn), turn_of(staged.body));
    parts.push_back(over_range(loop, with_plain_turns(loop, staged, whole, turn_of)));
    return Block::make(before, with_range(loop, Block::make(parts)));
}

std::vector<Stmt> RunAhead::all_arrive() const { return {wait_for_threads()}; }

/// Fills slots of the turn `turn`, if there is such a turn.
Stmt RunAhead::fill(const For *loop, const StagedLoop &staged, const Expr &turn) {
    std::vector<Stmt> of_turn;
    bool branches = false;
    for (const Staging &s : staged.staging) {
        of_turn.push_back(copies_of(substitute(loop->name, turn, s.fill), true));
        branches = branches || has_branches(s.fill);
    }
    const Expr turn_exists = Call::make(Bool(), has_turn, {turn, range_of(loop).end}, Call::PureExtern);
    return IfThenElse::make(turn_exists, branches ? Block::make(of_turn) : with_copies_last(of_turn));
}

/// All that is copied ahead has arrived but the last groups of copies, for all threads.
Stmt RunAhead::arrive(int later) const {
    const Stmt waited = wait_for_copies(later);
    return Block::make(fenced ? Block::make(waited, fence_copies()) : waited, wait_for_threads());
}

} // namespace gyre::cuda
