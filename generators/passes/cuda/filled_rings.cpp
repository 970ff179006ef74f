#include "filled_rings.h"

#include "barriers.h"
#include "primitives.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

bool has_threads(const Stmt &s) {
    class Find : public IRVisitor {
        using IRVisitor::visit;
        void visit(const For *op) override {
            found = found || op->for_type == ForType::GPUThread;
            IRVisitor::visit(op);
        }

    public:
        bool found = false;
    } find;
    s.accept(&find);
    return find.found;
}

bool is_over_warps(const For *loop) {
    constexpr size_t length = sizeof warp_index - 1;
    return loop->name.size() >= length && loop->name.rfind(warp_index) == loop->name.size() - length;
}

} // namespace

Stmt FilledRings::visit(const For *op) {
    return op->for_type == ForType::GPUThread ? of_threads(op) : BarrierPlacer::visit(op);
}

std::vector<Stmt> FilledRings::all_arrive() const {
    const Stmt wait = statement_of(wait_for_computing_call, {computing * warp_lanes});
    if (fenced) return {fence_copies(), wait};
    return {wait};
}

/// What threads do of a block with copying warps.
Stmt FilledRings::of_threads(const For *op) {
    if (is_over_warps(op)) computing = static_cast<int>(*as_const_int(op->extent));
    if (has_threads(op->body)) return IRMutator::visit(op);
    const Stmt compute = mutate(op->body);
    _halide_user_assert(rings_copies.defined()) << "CUDA: there is nothing that copying warps could fill\n";
    const Stmt copy = for_copying_warps(op->body, rings_loop, rings_copies, computing);
    const Expr asked = Call::make(Bool(), is_copying_warp, {computing, copying.count}, Call::Extern);
    const int slots = rings.slots * static_cast<int>(rings.staging.size());
    const Stmt begin = statement_of(
        begin_rings_call, {slots, Variable::make(Handle(), rings_memory), copying.count * warp_lanes, computing});
    const Stmt body = Block::make(begin, IfThenElse::make(asked, copy, compute));
    const Stmt all = Allocate::make(rings_memory, UInt(64), MemoryType::GPUShared, {2 * slots}, const_true(), body);
    return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, all);
}

// Each turn waits for its rings, which copying warps fill.
Stmt FilledRings::read_rings(const For *loop, const StagedLoop &staged) {
    _halide_user_assert(!rings_copies.defined()) << "CUDA: copying warps fill rings of two loops\n";
    rings = {staged.staging, staged.slots};
    rings_loop = loop->name;
    // What has shared the rings' memory before is over.
    std::vector<Stmt> before{barrier()};
    for (size_t ring = 0; ring < rings.staging.size(); ring++)
        for (int slot = 0; slot < rings.slots; slot++) before.push_back(say(emptied_call, ring, slot));
    rings_copies = fill_all(loop);

    const Expr turn = Variable::make(Int(32), loop->name) - range_of(loop).first;
    const auto turn_of = [&](const Stmt &s) { return in_turn(wait_for_rings(s, rings, copying, turn)); };
    const Stmt body = with_plain_turns(loop, staged, turn_of(staged.body), turn_of);
    before.push_back(with_range(loop, over_range(loop, Block::make(statement_of(staged_turn), body))));
    return Block::make(before);
}

/// What copying warps do for the loop: they fill the rings of each turn.
Stmt FilledRings::fill_all(const For *loop) {
    const Range range = range_of(loop);
    const Expr turn = Variable::make(Int(32), loop->name) - range.first;
    const int count = static_cast<int>(rings.staging.size());
    const Expr memory = Variable::make(Handle(), rings_memory);
    std::vector<Stmt> of_turn{statement_of(staged_turn)};
    for (int ring = 0; ring < count; ring++) {
        of_turn.push_back(say(wait_emptied_call, ring, turn));
        const Stmt filled = copies_of(for_all_that_copy(rings.staging[ring].fill), false);
        of_turn.push_back(has_branches(filled) ? filled : with_copies_last({filled}));
        of_turn.push_back(statement_of(filling_call, {rings.slots, memory, ring, turn, count}));
    }
    const Stmt no_more = statement_of(end_filling_call, {rings.slots, memory, range.end - range.first, count});
    return with_range(loop, Block::make(over_range(loop, Block::make(of_turn)), no_more));
}

Stmt FilledRings::say(const char *what, size_t ring, const Expr &turn) const {
    return statement_of(what, {rings.slots, Variable::make(Handle(), rings_memory), static_cast<int>(ring), turn});
}

} // namespace gyre::cuda
