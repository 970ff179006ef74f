#include "barriers.h"

#include "conditional_nests.h"
#include "primitives.h"
#include "staged_loop.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// True if some of a statement may not run, or more than once.
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

class PlaceBarriers : public IRMutator {
public:
    PlaceBarriers(const Fragments &fragments, const std::set<std::string> &aligned, bool fenced)
        : fragments(fragments), aligned(aligned), fenced(fenced) {}

private:
    const Fragments &fragments;
    const std::set<std::string> &aligned;
    const bool fenced;
    std::set<std::string> shared;
    bool is_touched = false; // shared memory, since the last barrier
    bool is_copied = false;  // asynchronously, since then
    bool in_staged_loop = false, is_filled_ahead = false;
    using IRMutator::visit;

    Stmt barrier() {
        std::vector<Stmt> parts;
        if (is_touched && !in_staged_loop) {
            if (is_copied) parts.push_back(commit_copies());
            parts.push_back(wait_for_copies(0));
            parts.push_back(wait_for_threads());
        }
        is_touched = false;
        is_copied = false;
        return parts.empty() ? Evaluate::make(0) : Block::make(parts);
    }

    Stmt visit(const Allocate *op) override {
        if (op->memory_type == MemoryType::GPUShared) shared.insert(op->name);
        return IRMutator::visit(op);
    }

    // Halide has a barrier after each thing that threads compute. What is in registers of a warp needs none.
    Stmt visit(const Evaluate *op) override { return is_barrier(op) ? barrier() : IRMutator::visit(op); }

    Expr visit(const Load *op) override {
        is_touched = is_touched || shared.count(op->name);
        return IRMutator::visit(op);
    }

    // The search of a tile ends in a barrier of its own.
    Expr visit(const Call *op) override { return op->name == not_finite_tile ? Expr(op) : IRMutator::visit(op); }

    Stmt visit(const Store *op) override {
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

    Stmt visit(const For *op) override {
        if (is_gpu(op->for_type)) return IRMutator::visit(op);
        const StagedLoop staged = read_staged_loop(op, shared);
        if (!staged.staging.empty()) return run_ahead(op, staged);
        is_touched = is_touched || touches(op->body, shared); // by the turn before
        return IRMutator::visit(op);
    }

    /// Fills slots of the turn `turn`, if there is such a turn.
    Stmt fill(const For *loop, const StagedLoop &staged, const Expr &turn, const Expr &end) {
        std::vector<Stmt> of_turn;
        bool branches = false;
        is_filled_ahead = true;
        for (const Staging &s : staged.staging) {
            of_turn.push_back(mutate(substitute(loop->name, turn, s.fill)));
            branches = branches || has_branches(s.fill);
        }
        is_filled_ahead = false;
        is_copied = false;
        return IfThenElse::make(turn_exists(turn, end), branches ? Block::make(of_turn) : with_copies_last(of_turn));
    }
    static Expr turn_exists(const Expr &turn, const Expr &end) {
        return Call::make(Bool(), has_turn, {turn, end}, Call::PureExtern);
    }

    /// All that is copied ahead has arrived but the last groups of copies, for all threads.
    Stmt arrive(int later) const {
        const Stmt waited = wait_for_copies(later);
        return Block::make(fenced ? Block::make(waited, fence_copies()) : waited, wait_for_threads());
    }

    /// Does what is in a staged loop, which only reads what was there at its beginning.
    Stmt in_turn(const Stmt &s) {
        in_staged_loop = true;
        const Stmt result = mutate(s);
        in_staged_loop = false;
        return result;
    }

    // Each turn waits for what it reads, then asks for what a later one reads, and computes while that arrives.
    Stmt run_ahead(const For *loop, const StagedLoop &staged) {
        _halide_user_assert(!stores_into(staged.body, shared))
            << "CUDA: a loop that shared memory is filled for ahead fills more of it, in the loop " << loop->name
            << "\n";
        const int ahead = staged.slots - 1;
        const Expr turn = Variable::make(Int(32), loop->name);
        const Expr first = Variable::make(Int(32), loop->name + ".first");
        const Expr end = Variable::make(Int(32), loop->name + ".end");
        const auto stage = [&](const Expr &of) { return Block::make(fill(loop, staged, of, end), commit_copies()); };
        const auto turn_of = [&](const Stmt &body) {
            return Block::make({arrive(ahead - 1), stage(turn + ahead), in_turn(body)});
        };
        const Stmt before = barrier();
        std::vector<Stmt> parts;
        for (int i = 0; i < ahead; i++) parts.push_back(stage(simplify(loop->min + i)));
        Stmt body = Block::make(statement_of(staged_turn), turn_of(staged.body));
        const Unconditional most = without_conditional_nests(
            staged.body, loop->body, [this](const Stmt &s) { return fragments.stores_scalars(s); });
        if (most.else_when.defined()) {
            const Expr ends = substitute(loop->name, turn + 1, most.else_when);
            const Expr next = Call::make(Bool(), next_turns, {turn, end, ends}, Call::Extern);
            body = Block::make(body, IfThenElse::make(next, turn_of(most.rest)));
        }
        parts.push_back(
            For::make(loop->name, first, end - first, loop->for_type, loop->partition_policy, loop->device_api, body));
        is_touched = true;
        const Stmt all = LetStmt::make(loop->name + ".end", simplify(loop->min + loop->extent), Block::make(parts));
        return Block::make(before, LetStmt::make(loop->name + ".first", loop->min, all));
    }
};

} // namespace

Stmt place_barriers(const Stmt &kernel, const Fragments &fragments, const std::set<std::string> &aligned, bool fenced) {
    return PlaceBarriers(fragments, aligned, fenced).mutate(kernel);
}

bool is_staged(const For *loop) {
    const Block *block = loop->body.as<Block>();
    const Evaluate *begin = block ? block->first.as<Evaluate>() : nullptr;
    const Call *call = begin ? begin->value.as<Call>() : nullptr;
    return call && call->name == staged_turn;
}

} // namespace gyre::cuda
