#include "barrier_placer.h"

#include "barriers.h"
#include "conditional_nests.h"
#include "primitives.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

Stmt BarrierPlacer::barrier() {
    std::vector<Stmt> parts;
    if (is_touched && !in_staged_loop) {
        if (is_copied) parts.push_back(commit_copies());
        parts.push_back(wait_for_copies(0));
        for (const Stmt &s : all_arrive()) parts.push_back(s);
    }
    is_touched = false;
    is_copied = false;
    return parts.empty() ? Evaluate::make(0) : Block::make(parts);
}

Stmt BarrierPlacer::visit(const Allocate *op) {
    if (op->memory_type == MemoryType::GPUShared) shared.insert(op->name);
    return IRMutator::visit(op);
}

// Halide has a barrier after each thing that threads compute. What is in registers of a warp needs none.
Stmt BarrierPlacer::visit(const Evaluate *op) { return is_barrier(op) ? barrier() : IRMutator::visit(op); }

Expr BarrierPlacer::visit(const Load *op) {
    is_touched = is_touched || shared.count(op->name);
    return IRMutator::visit(op);
}

// The search of a tile ends in a barrier of its own.
Expr BarrierPlacer::visit(const Call *op) { return op->name == not_finite_tile ? Expr(op) : IRMutator::visit(op); }

Stmt BarrierPlacer::visit(const Store *op) {
    const Stmt same = IRMutator::visit(op);
    is_touched = is_touched || shared.count(op->name);
    const Load *from = op->value.as<Load>();
    const Ramp *to = op->index.as<Ramp>();
    const Ramp *source = from ? from->index.as<Ramp>() : nullptr;
    const bool copies = shared.count(op->name) && to && source && is_const_one(to->stride) &&
                        is_const_one(source->stride) && !shared.count(from->name) && is_const_one(op->predicate) &&
                        is_const_one(from->predicate) &&
                        op->value.type().bytes() * op->value.type().lanes() == copied_bytes;
    const bool copies_word = is_filled_ahead && shared.count(op->name) && from && op->value.type().is_scalar() &&
                             op->value.type().bytes() == copied_word && !shared.count(from->name);
    if (!copies && !copies_word) return same;
    is_copied = true;
    return as_copy(op, aligned.count(from->name) > 0);
}

Stmt BarrierPlacer::visit(const For *op) {
    if (is_gpu(op->for_type)) return IRMutator::visit(op);
    const StagedLoop staged = read_staged_loop(op, shared);
    if (!staged.staging.empty()) {
        const Stmt result = read_rings(op, staged);
        is_touched = true;
        return result;
    }
    is_touched = is_touched || touches(op->body, shared); // by the turn before
    return IRMutator::visit(op);
}

BarrierPlacer::Range BarrierPlacer::range_of(const For *loop) {
    return {Variable::make(Int(32), loop->name + ".first"), Variable::make(Int(32), loop->name + ".end")};
}

Stmt BarrierPlacer::with_range(const For *loop, const Stmt &s) {
    const Stmt to = LetStmt::make(loop->name + ".end", simplify(loop->min + loop->extent), s);
    return LetStmt::make(loop->name + ".first", loop->min, to);
}

Stmt BarrierPlacer::over_range(const For *loop, const Stmt &body) {
    const Range range = range_of(loop);
    return For::make(loop->name, range.first, range.end - range.first, loop->for_type, loop->partition_policy,
                     loop->device_api, body);
}

Stmt BarrierPlacer::copies_of(const Stmt &fill, bool ahead) {
    is_filled_ahead = ahead;
    const Stmt copies = mutate(fill);
    is_filled_ahead = false;
    is_copied = false;
    return copies;
}

Stmt BarrierPlacer::in_turn(const Stmt &s) {
    in_staged_loop = true;
    const Stmt result = mutate(s);
    in_staged_loop = false;
    return result;
}

Stmt BarrierPlacer::with_plain_turns(const For *loop, const StagedLoop &staged, const Stmt &body,
                                     const std::function<Stmt(const Stmt &)> &turn_of) const {
    const Unconditional most = without_conditional_nests(staged.body, loop->body,
                                                         [this](const Stmt &s) { return fragments.stores_scalars(s); });
    if (!most.else_when.defined()) return body;
    const Expr turn = Variable::make(Int(32), loop->name);
    const Expr ends = substitute(loop->name, turn + 1, most.else_when);
    const Expr next = Call::make(Bool(), next_turns, {turn, range_of(loop).end, ends}, Call::Extern);
    return Block::make(body, IfThenElse::make(next, turn_of(most.rest)));
}

bool has_branches(const Stmt &s) {
    class Find : public IRVisitor {
        using IRVisitor::visit;
        void visit(const For *op) override {
            found = found || !is_gpu(op->for_type);
            IRVisitor::visit(op);
        }
        void visit(const IfThenElse *) override { found = true; }

    public:
        bool found = false;
    } find;
    s.accept(&find);
    return find.found;
}

} // namespace gyre::cuda
