#include "held_tiles.h"

#include "../loop_mutator.h"
#include "../loop_name.h"

#include <set>
#include <vector>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// The buffers that a loop's body stores to, and the variables that change in it.
class FindChanges : public IRVisitor {
public:
    std::set<std::string> buffers, variables;

private:
    using IRVisitor::visit;
    void visit(const Store *op) override {
        buffers.insert(op->name);
        IRVisitor::visit(op);
    }
    void visit(const Call *op) override {
        const auto *buffer = op->name == "tile_store" ? op->args[2].as<Variable>() : nullptr;
        if (buffer) buffers.insert(buffer->name);
        IRVisitor::visit(op);
    }
    void visit(const Allocate *op) override {
        buffers.insert(op->name);
        IRVisitor::visit(op);
    }
    void visit(const For *op) override {
        variables.insert(op->name);
        IRVisitor::visit(op);
    }
};

/// Puts variables in place of loads of tiles that are the same in every turn.
class HoldLoads : public IRMutator {
public:
    struct Held {
        std::string name;
        Expr load;
    };
    std::vector<Held> held;

    HoldLoads(FindChanges changes, size_t most) : changes(std::move(changes)), most(most) {}

private:
    const FindChanges changes;
    const size_t most;
    std::vector<std::pair<std::string, Expr>> lets; // around the statement, outermost first

    /// In terms of what is known before the loop.
    Expr without_lets(Expr e) const {
        for (auto let = lets.rbegin(); let != lets.rend(); ++let) e = substitute(let->first, let->second, e);
        return simplify(e);
    }
    bool changes_in_loop(const Call *load) const {
        const auto *buffer = load->args[2].as<Variable>();
        if (!buffer || changes.buffers.count(buffer->name)) return true;
        for (const Expr &place : {load->args[3], load->args[4]}) {
            for (const std::string &variable : changes.variables)
                if (expr_uses_var(place, variable)) return true;
            for (const std::string &changed : changes.buffers)
                if (expr_uses_var(place, changed)) return true;
        }
        return false;
    }

    using IRMutator::visit;
    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        lets.emplace_back(op->name, op->value);
        const Stmt body = mutate(op->body);
        lets.pop_back();
        return LetStmt::make(op->name, value, body);
    }
    Expr visit(const Call *op) override {
        if (op->name != "tile_load") return IRMutator::visit(op);
        const Expr load = without_lets(op);
        if (changes_in_loop(load.as<Call>())) return op;
        for (const Held &h : held)
            if (equal(h.load, load)) return Variable::make(op->type, h.name);
        if (held.size() == most) return op;
        held.push_back({unique_name("held"), load});
        return Variable::make(op->type, held.back().name);
    }
};

class HoldTiles : public LoopMutator {
public:
    HoldTiles(const std::string &func, const std::string &loop, int most)
        : LoopMutator("there is no loop " + loop + " of " + func + " to hold tiles in"), func(func), loop(loop),
          most(most) {}

private:
    const std::string func, loop;
    const size_t most;

    using LoopMutator::visit;
    Stmt visit(const For *op) override {
        if (func_of_loop(op->name) != func || variable_of_loop(op->name) != loop) return IRMutator::visit(op);
        found = true;
        FindChanges changes;
        op->accept(&changes);
        HoldLoads hold(changes, most);
        Stmt all = For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api,
                             hold.mutate(op->body));
        for (const HoldLoads::Held &held : hold.held) all = LetStmt::make(held.name, held.load, all);
        return all;
    }
};

} // namespace

void hold_tiles(GeneratorBase &generator, const Func &of, const std::string &loop, int most) {
    generator.get_pipeline().add_custom_lowering_pass(new HoldTiles(of.name(), loop, most));
}

} // namespace gyre
