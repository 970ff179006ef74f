#include "formed_in_place.h"

#include "../loop_mutator.h"

#include <map>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// Finds the branch on whose first side `state` is stored.
class FindBranch : public IRVisitor {
public:
    Expr condition;

    explicit FindBranch(const std::string &state) : state(state) {}

private:
    using IRVisitor::visit;
    const std::string &state;
    Expr around;

    void visit(const IfThenElse *op) override {
        if (!op->else_case.defined()) return IRVisitor::visit(op);
        around = op->condition;
        op->then_case.accept(this);
        around = Expr();
    }
    void visit(const Store *op) override {
        if (op->name == state && around.defined()) condition = around;
    }
};

class FormInPlace : public LoopMutator {
public:
    FormInPlace(const std::string &product, const std::string &state)
        : LoopMutator("no branch before a copy of " + product + " to " + state), product(product), state(state),
          offset(Variable::make(Int(32), product + ".offset")) {}

private:
    using LoopMutator::visit;
    const std::string product, state;
    const Expr offset;
    Expr first; // what the branch asks
    bool in_first = false;
    int size = 0;
    std::map<std::string, Expr> named;

    Expr moved(const Expr &index) {
        const int lanes = index.type().lanes();
        return simplify(mutate(index) + (lanes > 1 ? Broadcast::make(offset, lanes) : offset));
    }

    Stmt visit(const Allocate *op) override {
        if (op->name == state) {
            size = op->constant_allocation_size();
            return Allocate::make(op->name, op->type, op->memory_type, {Expr(2 * size)}, op->condition,
                                  mutate(op->body));
        }
        if (op->name != product) return LoopMutator::visit(op);
        FindBranch branch(state);
        op->body.accept(&branch);
        first = branch.condition;
        if (!first.defined()) return LoopMutator::visit(op);
        _halide_user_assert(op->constant_allocation_size() == size)
            << product << " has other places than " << state << "\n";
        found = true;
        return LetStmt::make(product + ".offset", select(first, 0, size), mutate(op->body));
    }
    Stmt visit(const Free *op) override { return op->name == product ? Evaluate::make(0) : Stmt(op); }
    Stmt visit(const IfThenElse *op) override {
        if (!first.defined() || !equal(op->condition, first)) return LoopMutator::visit(op);
        in_first = true;
        const Stmt copied = mutate(op->then_case);
        in_first = false;
        return IfThenElse::make(op->condition, copied, mutate(op->else_case));
    }
    Stmt visit(const LetStmt *op) override {
        named[op->name] = op->value;
        return LoopMutator::visit(op);
    }
    Expr visit(const Let *op) override {
        named[op->name] = op->value;
        return LoopMutator::visit(op);
    }
    Expr visit(const Load *op) override {
        if (op->name != product) return LoopMutator::visit(op);
        return Load::make(op->type, state, moved(op->index), {}, {}, mutate(op->predicate), {});
    }
    Stmt visit(const Store *op) override {
        if (op->name == product)
            return Store::make(state, mutate(op->value), moved(op->index), {}, mutate(op->predicate), {});
        if (in_first && op->name == state && is_copy(op->value, op->index)) return Evaluate::make(0);
        return LoopMutator::visit(op);
    }

    /// True if `value` is product's at `index`.
    bool is_copy(const Expr &value, const Expr &index) const {
        if (const Let *let = value.as<Let>()) {
            const Variable *whole = let->body.as<Variable>();
            return whole && whole->name == let->name && is_copy(let->value, index);
        }
        if (const Variable *variable = value.as<Variable>()) {
            const auto found = named.find(variable->name);
            return found != named.end() && is_copy(found->second, index);
        }
        const Load *load = value.as<Load>();
        return load && load->name == product && is_const_zero(simplify(load->index - index));
    }
};

} // namespace

void form_in_place(GeneratorBase &generator, const std::string &product, const std::string &state) {
    generator.get_pipeline().add_custom_lowering_pass(new FormInPlace(product, state));
}

} // namespace gyre
