#include "loop_limits.h"

#include "../loop_mutator.h"
#include "../loop_name.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// What is guarded by the flag's being not 0 is guarded once.
class FlagIsSet : public IRMutator {
public:
    explicit FlagIsSet(const std::string &flag) : flag(flag) {}

private:
    const std::string &flag;

    using IRMutator::visit;
    Expr visit(const NE *op) override {
        const auto *load = op->a.as<Load>();
        return load && load->name == flag && is_const_zero(op->b) ? const_true() : IRMutator::visit(op);
    }
    Stmt visit(const IfThenElse *op) override {
        if (is_const_one(mutate(op->condition))) return mutate(op->then_case);
        return IRMutator::visit(op);
    }
};

class GuardLoop : public LoopMutator {
public:
    /// `func`: "" for loops of any.
    GuardLoop(const std::string &func, const std::string &loop, const std::string &flag)
        : LoopMutator("there is no loop " + loop + " to limit"), func(func), loop(loop), flag(flag) {}

private:
    const std::string func, loop, flag;

    using LoopMutator::visit;
    Stmt visit(const For *op) override {
        const bool is_of_func = func.empty() || func_of_loop(op->name) == func;
        if (!is_of_func || variable_of_loop(op->name) != loop) return IRMutator::visit(op);
        found = true;
        const Expr value = Load::make(Int(32), flag, 0, Buffer<>(), Parameter(), const_true(), ModulusRemainder());
        return IfThenElse::make(value != 0, FlagIsSet(flag).mutate(Stmt(op)));
    }
};

class EndLoopEarly : public LoopMutator {
public:
    EndLoopEarly(const std::string &func, const std::string &loop, const std::string &outer,
                 const std::function<Expr(Expr)> &extent)
        : LoopMutator("there is no loop " + loop + " of " + func + " in " + outer + " to limit"), func(func),
          loop(loop), outer(outer), extent(extent) {}

private:
    const std::string func, loop, outer;
    const std::function<Expr(Expr)> extent;
    std::string turn; // of the outer loop; empty: outside of it
    // Halide parts a loop where what is likely stops to hold: a part that begins at 0, and others behind it, which it rebases.
    std::string parted; // the loop that the last statement was a part of; empty: none
    Expr taken;         // turns of its parts so far

    Stmt apart(const Stmt &statement) {
        parted.clear();
        const Stmt mutated = mutate(statement);
        parted.clear();
        return mutated;
    }
    /// The turns of the parts before this one.
    Expr turns_before(const For *part) const {
        const std::string name = name_before_rebasing(part->name);
        return name != part->name && name == parted ? taken : 0;
    }

    using LoopMutator::visit;
    Stmt visit(const IfThenElse *op) override {
        const Stmt then_case = apart(op->then_case);
        return IfThenElse::make(op->condition, then_case, op->else_case.defined() ? apart(op->else_case) : Stmt());
    }
    Stmt visit(const LetStmt *op) override {
        const Stmt same = IRMutator::visit(op);
        if (!parted.empty()) taken = substitute(op->name, op->value, taken);
        return same;
    }
    Stmt visit(const For *op) override {
        if (variable_of_loop(op->name) == outer) {
            turn = op->name;
            const Stmt body = apart(op->body);
            turn.clear();
            return with(op, op->extent, body);
        }
        if (turn.empty() || func_of_loop(op->name) != func || variable_of_loop(op->name) != loop)
            return with(op, op->extent, apart(op->body));
        found = true;
        const Expr before = turns_before(op);
        const Expr limit = max(extent(Variable::make(Int(32), turn)) - before, 0);
        const Stmt body = apart(op->body);
        parted = name_before_rebasing(op->name);
        taken = simplify(before + op->extent);
        return with(op, simplify(min(op->extent, limit)), body);
    }
    static Stmt with(const For *op, const Expr &extent, const Stmt &body) {
        return For::make(op->name, op->min, extent, op->for_type, op->partition_policy, op->device_api, body);
    }
};

} // namespace

void guard_loop(GeneratorBase &generator, const std::string &loop, const Func &flag) {
    generator.get_pipeline().add_custom_lowering_pass(new GuardLoop("", loop, flag.name()));
}

void guard_loop(GeneratorBase &generator, const Func &of, const std::string &loop, const Func &flag) {
    generator.get_pipeline().add_custom_lowering_pass(new GuardLoop(of.name(), loop, flag.name()));
}

void end_loop_early(GeneratorBase &generator, const Func &of, const std::string &loop, const std::string &outer,
                    const std::function<Expr(Expr)> &extent) {
    generator.get_pipeline().add_custom_lowering_pass(new EndLoopEarly(of.name(), loop, outer, extent));
}

} // namespace gyre
