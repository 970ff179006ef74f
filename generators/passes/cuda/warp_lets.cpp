// What lets stand for is put in their places.
#include "warp_nest.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class FindLoads : public IRVisitor {
    using IRVisitor::visit;
    void visit(const Load *) override { found = true; }

public:
    bool found = false;
};

bool reads_memory(const Expr &e) {
    FindLoads find;
    e.accept(&find);
    return find.found;
}

class InlineLets : public IRMutator {
public:
    explicit InlineLets(bool all) : all(all) {}

private:
    const bool all;
    using IRMutator::visit;

    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        if (!all && (reads_memory(value) || value.type().is_vector()))
            return LetStmt::make(op->name, value, mutate(op->body));
        return mutate(substitute(op->name, value, op->body));
    }
    Expr visit(const Let *op) override { return mutate(substitute(op->name, mutate(op->value), op->body)); }
};

} // namespace

Stmt without_lets(const Stmt &s) { return InlineLets(false).mutate(s); }
Stmt without_any_lets(const Stmt &s) { return InlineLets(true).mutate(s); }
Expr without_lets(const Expr &e) { return InlineLets(true).mutate(e); }

} // namespace gyre::cuda
