#include "copying_warps.h"

#include "copies.h"
#include "warp_nest.h"

#include <algorithm>

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class PlaceRingWaits : public IRMutator {
public:
    PlaceRingWaits(const Rings &rings, const CopyingWarps &warps, const Expr &turn)
        : rings(rings), warps(warps), turn(turn) {}
    size_t placed = 0;

private:
    const Rings &rings;
    const CopyingWarps &warps;
    const Expr &turn;
    using IRMutator::visit;

    Stmt visit(const ProducerConsumer *op) override {
        Stmt s = IRMutator::visit(op);
        if (!op->is_producer) return s;
        for (size_t i = 0; i < rings.staging.size(); i++) {
            const RingReaders &readers = warps.readers.at(rings.staging[i].func);
            const auto say = [&](const char *what) {
                placed++;
                return statement_of(what,
                                    {rings.slots, Variable::make(Handle(), rings_memory), static_cast<int>(i), turn});
            };
            if (op->name == readers.first) s = Block::make(say(wait_filled_call), s);
            if (op->name == readers.last) s = Block::make(s, say(emptied_call));
        }
        return s;
    }
};

/// Arrays that are read.
class FindReadArrays : public IRVisitor {
    using IRVisitor::visit;
    void visit(const Load *op) override {
        names.insert(op->name);
        IRVisitor::visit(op);
    }

public:
    std::set<std::string> names;
};

/// Adds what stores into these arrays read, and what decides whether they run.
class FindNeededArrays : public IRVisitor {
public:
    explicit FindNeededArrays(std::set<std::string> needed) : needed(std::move(needed)) {}
    std::set<std::string> needed;
    bool has_new = false;

private:
    std::vector<Expr> around;
    using IRVisitor::visit;
    void visit(const Store *op) override {
        if (!needed.count(op->name)) return;
        FindReadArrays find;
        op->value.accept(&find);
        op->index.accept(&find);
        for (const Expr &e : around) e.accept(&find);
        for (const std::string &name : find.names) has_new = needed.insert(name).second || has_new;
    }
    void visit(const IfThenElse *op) override {
        around.push_back(op->condition);
        IRVisitor::visit(op);
        around.pop_back();
    }
    void visit(const For *op) override {
        around.insert(around.end(), {op->min, op->extent});
        op->body.accept(this);
        around.resize(around.size() - 2);
    }
};

class KeepRingCopies : public IRMutator {
public:
    KeepRingCopies(std::string loop, Stmt copies, std::set<std::string> needed)
        : loop(std::move(loop)), copies(std::move(copies)), needed(std::move(needed)) {}

private:
    const std::string loop;
    const Stmt copies;
    const std::set<std::string> needed;
    using IRMutator::visit;

    static bool is_nothing(const Stmt &s) {
        const Evaluate *op = s.as<Evaluate>();
        return op && is_const(op->value);
    }
    static Stmt nothing() { return Evaluate::make(0); }
    Stmt visit(const Block *op) override {
        const Stmt first = mutate(op->first), rest = mutate(op->rest);
        return is_nothing(first) ? rest : is_nothing(rest) ? first : Block::make(first, rest);
    }
    Stmt visit(const Evaluate *) override { return nothing(); }
    Stmt visit(const Store *op) override { return needed.count(op->name) ? Stmt(op) : nothing(); }
    Stmt visit(const Allocate *op) override {
        const Stmt body = mutate(op->body);
        if (!needed.count(op->name)) return body;
        return Allocate::make(op->name, op->type, op->memory_type, op->extents, op->condition, body);
    }
    Stmt visit(const ProducerConsumer *op) override {
        const Stmt body = mutate(op->body);
        return is_nothing(body) ? body : ProducerConsumer::make(op->name, op->is_producer, body);
    }
    Stmt visit(const LetStmt *op) override {
        const Stmt body = mutate(op->body);
        return is_nothing(body) ? body : LetStmt::make(op->name, op->value, body);
    }
    Stmt visit(const IfThenElse *op) override {
        const Stmt yes = mutate(op->then_case), no = op->else_case.defined() ? mutate(op->else_case) : nothing();
        if (is_nothing(yes) && is_nothing(no)) return nothing();
        return IfThenElse::make(op->condition, yes, is_nothing(no) ? Stmt() : no);
    }
    Stmt visit(const For *op) override {
        if (op->name == loop) return copies;
        const Stmt body = mutate(op->body);
        if (is_nothing(body)) return body;
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, body);
    }
};

class WithoutWarpLimit : public IRMutator {
    using IRMutator::visit;
    Stmt visit(const IfThenElse *op) override {
        const LT *less = op->condition.as<LT>();
        const Variable *v = less ? less->a.as<Variable>() : nullptr;
        const bool always = v && v->name == warp_index && is_const(less->b) && !op->else_case.defined();
        return always ? mutate(op->then_case) : IRMutator::visit(op);
    }
};

} // namespace

int computing_registers(int computing, int copying) {
    constexpr int of_multiprocessor = 65536, step = 8;
    const int of_thread = of_multiprocessor / (warp_lanes * (computing + copying)) / step * step;
    return std::min((of_thread * (computing + copying) - copying_registers * copying) / computing / step * step, 240);
}

Stmt wait_for_rings(const Stmt &body, const Rings &rings, const CopyingWarps &warps, const Expr &turn) {
    PlaceRingWaits place(rings, warps, turn);
    const Stmt placed = place.mutate(body);
    _halide_user_assert(place.placed == 2 * rings.staging.size())
        << "CUDA: a ring that copying warps fill is not read where Lowering says\n";
    return placed;
}

Stmt for_all_that_copy(const Stmt &fill) { return WithoutWarpLimit().mutate(fill); }

Stmt for_copying_warps(const Stmt &body, const std::string &loop, const Stmt &copies, int computing) {
    FindReadArrays read;
    copies.accept(&read);
    FindNeededArrays find(read.names);
    do {
        find.has_new = false;
        body.accept(&find);
    } while (find.has_new);
    const Expr counted = Variable::make(Int(32), warp_index) - computing; // copying warps, from 0
    return KeepRingCopies(loop, substitute(warp_index, counted, copies), find.needed).mutate(body);
}

} // namespace gyre::cuda
