#include "conditional_nests.h"

#include "../changed_names.h"
#include "warp_nest.h"

#include <set>

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// Names whose values a turn has of its own.
std::set<std::string> names_of_turn(const Stmt &turn) {
    ChangedNames of_turn;
    turn.accept(&of_turn);
    of_turn.names.insert({lane_index, warp_index});
    return of_turn.names;
}

/// Whether an expression is of these, or of what may differ from time to time.
class FindUses : public IRVisitor {
public:
    explicit FindUses(const std::set<std::string> &names) : names(names) {}
    bool found = false;

private:
    const std::set<std::string> &names;
    using IRVisitor::visit;
    void visit(const Variable *op) override { found = found || names.count(op->name); }
    void visit(const Load *op) override {
        found = found || names.count(op->name);
        IRVisitor::visit(op);
    }
    void visit(const Call *op) override {
        found = found || !op->is_pure();
        IRVisitor::visit(op);
    }
};

class TakeConditional : public IRMutator {
public:
    TakeConditional(const std::set<std::string> &own, const std::function<bool(const Stmt &)> &scalars)
        : own(own), scalars(scalars) {}
    Expr taken;

private:
    const std::set<std::string> &own;
    const std::function<bool(const Stmt &)> &scalars;
    bool for_warp = false;
    using IRMutator::visit;

    bool takes(const Expr &condition) {
        FindUses find(own);
        condition.accept(&find);
        if (find.found) return false;
        if (!taken.defined())
            taken = condition;
        else if (!is_known(taken, condition))
            taken = taken || condition;
        return true;
    }
    static bool is_known(const Expr &all, const Expr &condition) {
        const Or *either = all.as<Or>();
        return equal(all, condition) || (either && (is_known(either->a, condition) || is_known(either->b, condition)));
    }
    Stmt visit(const For *op) override {
        if (is_gpu(op->for_type) || !for_warp) return IRMutator::visit(op);
        const Expr condition = has_warp_tile(op) ? read_warp_nest(op).condition : Expr();
        return condition.defined() && takes(condition) ? Evaluate::make(0) : Stmt(op);
    }
    Stmt visit(const IfThenElse *op) override {
        Expr rest;
        if (!op->else_case.defined() && scalars(op->then_case)) {
            const Expr condition = for_all_threads(op->condition);
            if (!condition.defined() || is_const_one(condition)) return IRMutator::visit(op);
            return takes(condition) ? Evaluate::make(0) : Stmt(op);
        }
        const bool outside = for_warp;
        for_warp = is_for_warp(op->condition, &rest) || outside;
        const bool always = !rest.defined() || is_const_one(rest);
        Stmt left = op; // with what is in it: that may not be asked for where the condition does not hold
        if (always)
            left = IRMutator::visit(op);
        else if (for_warp && !op->else_case.defined() && has_warp_tile(op->then_case) && takes(rest))
            left = Evaluate::make(0);
        for_warp = outside;
        return left;
    }
};

} // namespace

Unconditional without_conditional_nests(const Stmt &body, const Stmt &turn,
                                        const std::function<bool(const Stmt &)> &scalars) {
    const std::set<std::string> own = names_of_turn(turn);
    TakeConditional take(own, scalars);
    const Stmt rest = take.mutate(body);
    return {rest, take.taken};
}

} // namespace gyre::cuda
