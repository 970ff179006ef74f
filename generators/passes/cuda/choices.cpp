#include "choices.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// The condition of a choice, if it is the same for all lanes; undefined: it is not.
Expr uniform_condition(const Call *op) {
    if (!op->is_intrinsic(Call::if_then_else) || op->args.size() != 3) return Expr();
    const Broadcast *same = op->args[0].as<Broadcast>();
    if (same) return same->value;
    return op->args[0].type().is_vector() ? Expr() : op->args[0];
}

class FindChoice : public IRVisitor {
    using IRVisitor::visit;
    void visit(const Call *op) override {
        if (!condition.defined() && op->type.is_vector()) condition = uniform_condition(op);
        IRVisitor::visit(op);
    }

public:
    Expr condition;
};

class TakeWay : public IRMutator {
public:
    TakeWay(Expr condition, bool way) : condition(std::move(condition)), way(way) {}

private:
    const Expr condition;
    const bool way;
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        const Expr of = uniform_condition(op);
        return of.defined() && equal(of, condition) ? mutate(op->args[way ? 1 : 2]) : IRMutator::visit(op);
    }
};

class PartChoices : public IRMutator {
    using IRMutator::visit;
    Stmt visit(const Store *op) override {
        FindChoice find;
        if (op->value.type().is_vector()) op->value.accept(&find);
        if (!find.condition.defined()) return op;
        const auto way = [&](bool yes) {
            const Expr value = TakeWay(find.condition, yes).mutate(op->value);
            return Store::make(op->name, value, op->index, op->param, op->predicate, op->alignment);
        };
        return IfThenElse::make(find.condition, way(true), way(false));
    }
    Stmt visit(const LetStmt *op) override {
        const Stmt body = mutate(op->body);
        const IfThenElse *ways = body.as<IfThenElse>();
        const bool is_parted = ways && !op->body.as<IfThenElse>() && ways->else_case.defined();
        if (!is_parted || expr_uses_var(ways->condition, op->name)) return LetStmt::make(op->name, op->value, body);
        const auto with = [&](const Stmt &way) {
            return stmt_uses_var(way, op->name) ? LetStmt::make(op->name, op->value, way) : way;
        };
        return IfThenElse::make(ways->condition, with(ways->then_case), with(ways->else_case));
    }
};

} // namespace

Stmt part_choices(const Stmt &kernel) { return PartChoices().mutate(kernel); }

} // namespace gyre::cuda
