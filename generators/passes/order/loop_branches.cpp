#include "loop_branches.h"

#include "../loop_mutator.h"

#include <algorithm>
#include <map>
#include <set>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

const char *const mark = "gyre_branch";

/// Finds the marks in a statement, and the names of those that it names.
class FindMarks : public IRVisitor {
public:
    Expr condition;           // of a mark; undefined: there is none
    std::set<std::string> in; // names that the statement defines: its loops and what is named in them

    explicit FindMarks(const std::map<std::string, Expr> &named) : named(named) {}

private:
    const std::map<std::string, Expr> &named;

    using IRVisitor::visit;
    void note(const Expr &found) {
        _halide_user_assert(!condition.defined() || equal(condition, found)) << "a loop has two branches before it\n";
        condition = found;
    }
    void visit(const Call *op) override {
        if (op->name == mark) note(op->args[0]);
        IRVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        if (const auto found = named.find(op->name); found != named.end()) note(found->second);
    }
    void visit(const For *op) override {
        in.insert(op->name);
        IRVisitor::visit(op);
    }
    void visit(const Let *op) override {
        in.insert(op->name);
        IRVisitor::visit(op);
    }
    void visit(const LetStmt *op) override {
        in.insert(op->name);
        IRVisitor::visit(op);
    }
};

/// Takes one side of every selection by a mark.
class TakeSide : public IRMutator {
public:
    TakeSide(const std::map<std::string, Expr> &named, bool side) : named(named), side(side) {}

private:
    const std::map<std::string, Expr> &named;
    const bool side;

    using IRMutator::visit;
    Expr visit(const Call *op) override { return op->name == mark ? make_const(op->type, side) : IRMutator::visit(op); }
    Expr visit(const Variable *op) override { return named.count(op->name) ? make_const(op->type, side) : Expr(op); }
};

bool names_any(const Expr &e, const std::set<std::string> &names) {
    return std::any_of(names.begin(), names.end(), [&](const std::string &name) { return expr_uses_var(e, name); });
}

class Branch : public LoopMutator {
public:
    Branch() : LoopMutator("nothing has a branch before it") {}

private:
    std::map<std::string, Expr> named; // marks that have a name

    using LoopMutator::visit;
    Stmt visit(const LetStmt *op) override {
        const Call *call = op->value.as<Call>();
        if (!call || call->name != mark) return branched(op, op->value);
        named[op->name] = call->args[0];
        const Stmt body = mutate(op->body);
        named.erase(op->name);
        return body;
    }
    Stmt visit(const Store *op) override { return branched(op, op->value); }
    Stmt visit(const For *op) override { return branched(op, Stmt(op)); }

    /// `op` on both sides of a branch, if `marked`, it or a part of it, has a mark that does not change there.
    template <class Statement, class Part>
    Stmt branched(const Statement *op, const Part &marked) {
        FindMarks marks(named);
        marked.accept(&marks);
        if (!marks.condition.defined() || names_any(marks.condition, marks.in)) return IRMutator::visit(op);
        found = true;
        const auto side = [&](bool taken) { return simplify(TakeSide(named, taken).mutate(Stmt(op))); };
        return IfThenElse::make(marks.condition, side(true), side(false));
    }
};

} // namespace

Expr branch(const Expr &condition) { return Call::make(Bool(), mark, {condition}, Call::PureExtern); }

void branch_before_loops(GeneratorBase &generator) { generator.get_pipeline().add_custom_lowering_pass(new Branch); }

} // namespace gyre
