#include "joined_loops.h"

#include "../loop_mutator.h"
#include "../loop_name.h"

#include <vector>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

bool does_nothing(Stmt s) {
    while (const LetStmt *let = s.as<LetStmt>()) s = let->body;
    return is_no_op(s);
}

class JoinLoops : public LoopMutator {
public:
    JoinLoops(const std::string &formed, const std::string &used, const std::string &row)
        : LoopMutator("no loops of " + formed + " and " + used + " to join"), formed(formed), used(used), row(row) {}

private:
    using LoopMutator::visit;
    using Lets = std::vector<std::pair<std::string, Expr>>;
    const std::string formed, used, row;
    bool in_formed = false;
    Lets scope;             // around what is visited
    size_t of_others = 0;   // of these, those that are around the production of `formed`
    std::string row_formed; // the variable of the loop over rows around it
    const For *taken = nullptr;
    Stmt keeps_taken;  // what points to it
    Expr first, turns; // of it
    Lets lets_taken;
    std::vector<Stmt> freed; // since it was taken
    std::string row_taken, row_used;

    void begin() override {
        LoopMutator::begin();
        taken = nullptr;
    }

    Expr without_lets(Expr value) const {
        for (auto let = scope.rbegin(); let != scope.rend(); ++let)
            if (expr_uses_var(value, let->first)) value = substitute(let->first, let->second, value);
        return simplify(value);
    }

    Stmt visit(const ProducerConsumer *op) override {
        if (!op->is_producer || op->name != formed) return LoopMutator::visit(op);
        in_formed = true;
        of_others = scope.size();
        const Stmt produced = LoopMutator::visit(op);
        in_formed = false;
        return produced;
    }
    Stmt visit(const LetStmt *op) override {
        scope.emplace_back(op->name, op->value);
        const Stmt inside = LoopMutator::visit(op);
        scope.pop_back();
        return inside;
    }
    Stmt visit(const For *op) override {
        const bool over_rows = variable_of_loop(op->name) == row;
        if (over_rows) {
            std::string &name = in_formed ? row_formed : row_used;
            const std::string outer = name;
            name = op->name;
            const Stmt loop = LoopMutator::visit(op);
            name = outer;
            return does_nothing(loop.as<For>()->body) ? Evaluate::make(0) : then_free(loop);
        }
        if (in_formed && func_of_loop(op->name) == formed && !taken) {
            taken = op;
            keeps_taken = op;
            first = without_lets(op->min);
            turns = without_lets(op->extent);
            lets_taken.assign(scope.begin() + of_others, scope.end());
            row_taken = row_formed;
            return Evaluate::make(0);
        }
        if (!taken || found || func_of_loop(op->name) != used) return LoopMutator::visit(op);
        return row_used.empty() ? then_free(joined(op)) : joined(op);
    }

    // What the loop reads lives until it has run.
    Stmt visit(const Free *op) override {
        if (!taken || found) return op;
        freed.push_back(op);
        return Evaluate::make(0);
    }
    Stmt then_free(Stmt loop) {
        if (!found) return loop;
        for (const Stmt &free : freed) loop = Block::make(loop, free);
        freed.clear();
        return loop;
    }

    Expr visit(const Load *op) override {
        _halide_user_assert(!taken || found || func_of_loop(op->name) != formed)
            << formed << " is read before the loop of " << used << "\n";
        return LoopMutator::visit(op);
    }

    Stmt joined(const For *op) {
        const Expr turns_used = without_lets(op->extent);
        _halide_user_assert(is_const_zero(simplify(first - without_lets(op->min))))
            << used << " does not begin with the turn that " << formed << " begins with\n";
        _halide_user_assert(is_const_zero(simplify(turns - turns_used)))
            << used << " has " << turns_used << " turns, " << formed << " has " << turns << "\n";
        Stmt work = taken->body;
        for (auto let = lets_taken.rbegin(); let != lets_taken.rend(); ++let)
            work = LetStmt::make(let->first, let->second, work);
        work = substitute(taken->name, Variable::make(Int(32), op->name), work);
        if (!row_taken.empty()) work = substitute(row_taken, Variable::make(Int(32), row_used), work);
        found = true;
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api,
                         Block::make(work, op->body));
    }
};

} // namespace

void join_loops(GeneratorBase &generator, const std::string &formed, const std::string &used, const std::string &row) {
    generator.get_pipeline().add_custom_lowering_pass(new JoinLoops(formed, used, row));
}

} // namespace gyre
