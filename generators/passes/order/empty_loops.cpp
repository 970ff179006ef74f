#include "empty_loops.h"

#include "../loop_name.h"

#include <vector>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// The extent of the loop that is all there is in `body`, by what is known outside of it; undefined if there is other work.
Expr extent_of_only_loop(const Stmt &body) {
    std::vector<const LetStmt *> lets;
    Stmt inside = body;
    while (const LetStmt *let = inside.as<LetStmt>()) {
        lets.push_back(let);
        inside = let->body;
    }
    const For *loop = inside.as<For>();
    if (!loop) return {};
    Expr extent = loop->extent;
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) extent = substitute((*let)->name, (*let)->value, extent);
    return simplify(extent);
}

class SkipEmpty : public IRMutator {
public:
    SkipEmpty(const std::string &func, const std::string &variable) : func(func), variable(variable) {}

private:
    using IRMutator::visit;
    const std::string func, variable;

    Stmt visit(const For *op) override {
        const Stmt loop = IRMutator::visit(op);
        if (func_of_loop(op->name) != func || variable_of_loop(op->name) != variable) return loop;
        const Expr extent = extent_of_only_loop(op->body);
        if (!extent.defined() || is_const(extent) || expr_uses_var(extent, op->name) || !is_pure(extent)) return loop;
        return IfThenElse::make(extent > 0, loop);
    }
};

} // namespace

void skip_empty_loops(GeneratorBase &generator, const std::string &func, const std::string &variable) {
    generator.get_pipeline().add_custom_lowering_pass(new SkipEmpty(func, variable));
}

} // namespace gyre
