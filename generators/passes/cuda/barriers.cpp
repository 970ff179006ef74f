#include "barriers.h"

#include "conditional_nests.h"
#include "primitives.h"
#include "staged_loop.h"

#include <functional>

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

bool is_of_threads(const Stmt &s) {
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

class PlaceBarriers : public IRMutator {
public:
    PlaceBarriers(const Fragments &fragments, const std::set<std::string> &aligned, bool fenced,
                  const CopyingWarps &copying)
        : fragments(fragments), aligned(aligned), fenced(fenced), copying(copying) {}

private:
    const CopyingWarps &copying;
    int computing = 0; // warps
    Rings rings;       // that copying warps fill, in the loop `rings_loop`
    std::string rings_loop;
    Stmt rings_copies;
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
            if (copying.count && fenced) parts.push_back(fence_copies());
            parts.push_back(copying.count ? statement_of(wait_for_computing_call, {computing * warp_lanes})
                                          : wait_for_threads());
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
        if (op->for_type == ForType::GPUThread && copying.count) return of_threads(op);
        if (is_gpu(op->for_type)) return IRMutator::visit(op);
        const StagedLoop staged = read_staged_loop(op, shared);
        if (!staged.staging.empty()) return copying.count ? read_rings(op, staged) : run_ahead(op, staged);
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

    /// What threads do of a block with copying warps.
    Stmt of_threads(const For *op) {
        const std::string &name = op->name;
        if (name.size() >= sizeof warp_index - 1 && name.rfind(warp_index) == name.size() - (sizeof warp_index - 1))
            computing = static_cast<int>(*as_const_int(op->extent));
        if (is_of_threads(op->body)) return IRMutator::visit(op);
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

    /// A turn, and behind it the turns that follow without the nests that it enters on a condition, if it has such nests.
    Stmt with_plain_turns(const For *loop, const StagedLoop &staged, const Stmt &body, const Expr &turn,
                          const Expr &end, const std::function<Stmt(const Stmt &)> &turn_of) {
        const Unconditional most = without_conditional_nests(
            staged.body, loop->body, [this](const Stmt &s) { return fragments.stores_scalars(s); });
        if (!most.else_when.defined()) return body;
        const Expr ends = substitute(loop->name, turn + 1, most.else_when);
        const Expr next = Call::make(Bool(), next_turns, {turn, end, ends}, Call::Extern);
        return Block::make(body, IfThenElse::make(next, turn_of(most.rest)));
    }

    // Each turn waits for its rings, which copying warps fill.
    Stmt read_rings(const For *loop, const StagedLoop &staged) {
        _halide_user_assert(!rings_copies.defined()) << "CUDA: copying warps fill rings of two loops\n";
        rings = {staged.staging, staged.slots};
        rings_loop = loop->name;
        const Expr turn = Variable::make(Int(32), loop->name), first = Variable::make(Int(32), loop->name + ".first"),
                   end = Variable::make(Int(32), loop->name + ".end");
        const auto with_range = [&](const Stmt &s) {
            const Stmt from = LetStmt::make(loop->name + ".first", loop->min, s);
            return LetStmt::make(loop->name + ".end", simplify(loop->min + loop->extent), from);
        };
        const auto turns = [&](const Stmt &body) {
            return For::make(loop->name, first, end - first, loop->for_type, loop->partition_policy, loop->device_api,
                             Block::make(statement_of(staged_turn), body));
        };
        const auto say_of = [&](const char *what, size_t ring, const Expr &of) {
            return statement_of(what,
                                {rings.slots, Variable::make(Handle(), rings_memory), static_cast<int>(ring), of});
        };
        const auto say = [&](const char *what, size_t ring) { return say_of(what, ring, turn - first); };
        // What has shared the rings' memory before is over.
        std::vector<Stmt> before{barrier()};
        for (size_t i = 0; i < staged.staging.size(); i++)
            for (int slot = 0; slot < rings.slots; slot++) before.push_back(say_of(emptied_call, i, slot));
        std::vector<Stmt> copies;
        for (size_t i = 0; i < staged.staging.size(); i++) {
            copies.push_back(say(wait_emptied_call, i));
            const Stmt filled = mutate(for_all_that_copy(staged.staging[i].fill));
            copies.push_back(has_branches(filled) ? filled : with_copies_last({filled}));
            copies.push_back(
                statement_of(filling_call, {rings.slots, Variable::make(Handle(), rings_memory), static_cast<int>(i),
                                            turn - first, static_cast<int>(staged.staging.size())}));
        }
        is_copied = false;
        const Stmt no_more = statement_of(end_filling_call, {rings.slots, Variable::make(Handle(), rings_memory),
                                                             end - first, static_cast<int>(staged.staging.size())});
        rings_copies = with_range(Block::make(turns(Block::make(copies)), no_more));

        const auto turn_of = [&](const Stmt &s) { return in_turn(wait_for_rings(s, rings, copying, turn - first)); };
        const Stmt body = with_plain_turns(loop, staged, turn_of(staged.body), turn, end, turn_of);
        is_touched = true;
        before.push_back(with_range(turns(body)));
        return Block::make(before);
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
        const Stmt whole = Block::make(statement_of(staged_turn), turn_of(staged.body));
        const Stmt body = with_plain_turns(loop, staged, whole, turn, end, turn_of);
        parts.push_back(
            For::make(loop->name, first, end - first, loop->for_type, loop->partition_policy, loop->device_api, body));
        is_touched = true;
        const Stmt all = LetStmt::make(loop->name + ".end", simplify(loop->min + loop->extent), Block::make(parts));
        return Block::make(before, LetStmt::make(loop->name + ".first", loop->min, all));
    }
};

} // namespace

Stmt place_barriers(const Stmt &kernel, const Fragments &fragments, const std::set<std::string> &aligned, bool fenced,
                    const CopyingWarps &copying) {
    return PlaceBarriers(fragments, aligned, fenced, copying).mutate(kernel);
}

bool is_staged(const For *loop) {
    const Block *block = loop->body.as<Block>();
    const Evaluate *begin = block ? block->first.as<Evaluate>() : nullptr;
    const Call *call = begin ? begin->value.as<Call>() : nullptr;
    return call && call->name == staged_turn;
}

} // namespace gyre::cuda
