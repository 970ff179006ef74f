#include "loop_branches.h"

#include "../changed_names.h"
#include "../loop_mutator.h"

#include <algorithm>
#include <map>
#include <set>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

const char *const mark = "gyre_branch";

/// Finds the marks in a statement, beside the names that change there.
class FindMarks : public ChangedNames {
public:
    std::vector<Expr> conditions; // of marks

    explicit FindMarks(const std::map<std::string, Expr> &named) : named(named) {}

private:
    const std::map<std::string, Expr> &named;

    using ChangedNames::visit;
    void note(const Expr &found) {
        const auto same = [&](const Expr &other) { return equal(other, found); };
        if (std::none_of(conditions.begin(), conditions.end(), same)) conditions.push_back(found);
    }
    void visit(const Call *op) override {
        if (op->name == mark) note(op->args[0]);
        IRVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        if (const auto found = named.find(op->name); found != named.end()) note(found->second);
    }
};

/// Takes one side of every selection by a mark of `condition`.
class TakeSide : public IRMutator {
public:
    TakeSide(const std::map<std::string, Expr> &named, const Expr &condition, bool side)
        : named(named), condition(condition), side(side) {}

private:
    const std::map<std::string, Expr> &named;
    const Expr condition;
    const bool side;

    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->name != mark) return IRMutator::visit(op);
        return equal(op->args[0], condition) ? make_const(op->type, side) : Expr(op);
    }
    Expr visit(const Variable *op) override {
        const auto found = named.find(op->name);
        return found != named.end() && equal(found->second, condition) ? make_const(op->type, side) : Expr(op);
    }
};

/// Also as memory that is loaded.
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
        const auto unchanged = std::find_if(marks.conditions.begin(), marks.conditions.end(),
                                            [&](const Expr &condition) { return !names_any(condition, marks.names); });
        if (unchanged == marks.conditions.end()) return IRMutator::visit(op);
        found = true;
        const auto side = [&](bool taken) {
            const Stmt of_side = simplify(TakeSide(named, *unchanged, taken).mutate(Stmt(op)));
            return marks.conditions.size() > 1 ? mutate(of_side) : of_side;
        };
        return IfThenElse::make(*unchanged, side(true), side(false));
    }
};

} // namespace

Expr branch(const Expr &condition) { return Call::make(Bool(), mark, {condition}, Call::PureExtern); }

void branch_before_loops(GeneratorBase &generator) { generator.get_pipeline().add_custom_lowering_pass(new Branch); }

} // namespace gyre
