#include "lines_ahead.h"

#include "loop_mutator.h"
#include "loop_name.h"
#include "prefetched_lines.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class AskAhead : public LoopMutator {
public:
    AskAhead(const std::string &func, const std::string &loop, const OutputImageParam &tensor,
             const std::function<std::vector<LineAhead>(const LoopValues &)> &lines)
        : LoopMutator("there is no loop " + loop + " of " + func + " to ask for lines in"), func(func), loop(loop),
          tensor(tensor), lines(lines) {}

private:
    const std::string func, loop;
    const OutputImageParam tensor;
    const std::function<std::vector<LineAhead>(const LoopValues &)> lines;
    std::vector<std::string> loops; // around the statement

    Expr value(const std::string &name) const {
        for (auto around = loops.rbegin(); around != loops.rend(); ++around)
            if (variable_of_loop(*around) == name) return Variable::make(Int(32), *around);
        _halide_user_error << "loop " << loop << " of " << func << " is in no loop " << name << "\n";
        return {};
    }

    Stmt request(const LineAhead &line) const {
        const Expr begin = Load::make(Int(32), line.offsets.name(), simplify(line.row), Buffer<>(), Parameter(),
                                      const_true(), ModulusRemainder());
        return ask_for_line(Variable::make(Handle(), tensor.name()),
                            cast<int64_t>(begin + simplify(line.element)) * tensor.type().bytes());
    }

    using LoopMutator::visit;
    Stmt visit(const For *op) override {
        loops.push_back(op->name);
        Stmt body = mutate(op->body);
        if (func_of_loop(op->name) == func && variable_of_loop(op->name) == loop) {
            found = true;
            std::vector<Stmt> turn;
            for (const LineAhead &line : lines([this](const std::string &name) { return value(name); }))
                turn.push_back(request(line));
            turn.push_back(body);
            body = Block::make(turn);
        }
        loops.pop_back();
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, body);
    }
};

} // namespace

void ask_ahead(GeneratorBase &generator, const Func &of, const std::string &loop, const OutputImageParam &tensor,
               const std::function<std::vector<LineAhead>(const LoopValues &)> &lines) {
    generator.get_pipeline().add_custom_lowering_pass(new AskAhead(of.name(), loop, tensor, lines));
}

} // namespace gyre
