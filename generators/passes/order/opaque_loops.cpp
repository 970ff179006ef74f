#include "opaque_loops.h"

#include "../loop_mutator.h"
#include "../loop_name.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class Hide : public LoopMutator {
public:
    Hide(const std::string &variable, const Expr &zero)
        : LoopMutator("no loop over " + variable + " to hide it in"), variable(variable), zero(zero) {}

private:
    using LoopMutator::visit;
    const std::string variable;
    const Expr zero;

    Stmt visit(const For *op) override {
        if (variable_of_loop(op->name) != variable) return LoopMutator::visit(op);
        found = true;
        const std::string hidden = op->name + ".hidden";
        const Expr value = Variable::make(Int(32), op->name) ^ zero; // not a sum, which would be seen through
        const Stmt body = substitute(op->name, Variable::make(Int(32), hidden), op->body);
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api,
                         LetStmt::make(hidden, value, body));
    }
};

} // namespace

void hide_loop_variable(GeneratorBase &generator, const std::string &variable, const Expr &zero) {
    generator.get_pipeline().add_custom_lowering_pass(new Hide(variable, zero));
}

} // namespace gyre
