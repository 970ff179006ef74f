#include "equal_elements.h"

#include "loop_mutator.h"
#include "loop_name.h"

#include <map>
#include <utility>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class LoadOnce : public LoopMutator {
public:
    LoadOnce(const std::string &allocation, const std::string &variable)
        : LoopMutator("no loop over " + variable + " loads equal elements of " + allocation), allocation(allocation),
          variable(variable) {}

private:
    using LoopMutator::visit;
    const std::string allocation, variable;
    const For *loop = nullptr;         // over `variable`, whose body this is in
    std::map<std::string, Expr> inner; // what is named within it
    Expr first;                        // the load of its first turn

    std::string name_of_first() const { return allocation + ".of_all"; }

    Stmt visit(const For *op) override {
        if (loop || variable_of_loop(op->name) != variable) return LoopMutator::visit(op);
        loop = op;
        const Stmt turns = LoopMutator::visit(op);
        loop = nullptr;
        inner.clear();
        if (!first.defined()) return turns;
        found = true;
        return LetStmt::make(name_of_first(), std::exchange(first, Expr()), turns);
    }
    template <class Named>
    void note(const Named *op) {
        if (loop) inner[op->name] = substitute(inner, op->value);
    }
    Expr visit(const Let *op) override {
        note(op);
        return LoopMutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        note(op);
        return LoopMutator::visit(op);
    }
    Expr visit(const Load *op) override {
        if (!loop || op->name != allocation) return LoopMutator::visit(op);
        const Expr index = simplify(substitute(loop->name, loop->min, substitute(inner, op->index)));
        const Expr load = Load::make(op->type, op->name, index, {}, {}, const_true(op->type.lanes()), {});
        _halide_user_assert(!first.defined() || equal(first, load))
            << "a turn of the loop over " << variable << " loads several elements of " << allocation << "\n";
        first = load;
        return Variable::make(op->type, name_of_first());
    }
};

} // namespace

void load_equal_elements_once(GeneratorBase &generator, const std::string &allocation, const std::string &variable) {
    generator.get_pipeline().add_custom_lowering_pass(new LoadOnce(allocation, variable));
}

} // namespace gyre
