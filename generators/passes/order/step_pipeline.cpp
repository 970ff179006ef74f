#include "step_pipeline.h"

#include "../loop_mutator.h"
#include "../loop_name.h"
#include "interleave.h"
#include "step_stages.h"

#include <vector>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

constexpr int copies = 2;

/// Takes the copy of a ring that belongs to a step.
class TakeCopy : public IRMutator {
public:
    TakeCopy(const StageRing &ring, const Expr &step)
        : ring(ring), first(step % copies * static_cast<int>(ring.size)) {}

private:
    const StageRing ring;
    const Expr first;

    Expr moved(const Expr &index) const {
        // Simplified, so that neighbours are seen to be neighbours.
        return simplify(index.type().is_vector() ? index + Broadcast::make(first, index.type().lanes())
                                                 : index + first);
    }

    using IRMutator::visit;
    Expr visit(const Load *op) override {
        if (op->name != ring.allocation().name) return IRMutator::visit(op);
        return Load::make(op->type, op->name, moved(mutate(op->index)), op->image, op->param, mutate(op->predicate),
                          op->alignment);
    }
    Stmt visit(const Store *op) override {
        if (op->name != ring.allocation().name) return IRMutator::visit(op);
        return Store::make(op->name, mutate(op->value), moved(mutate(op->index)), op->param, mutate(op->predicate),
                           op->alignment);
    }
    Expr visit(const Call *op) override {
        if (op->name != "tile_load" && op->name != "tile_store") return IRMutator::visit(op);
        std::vector<Expr> args = op->args; // rows, bytes of a row, buffer, first byte, …
        const auto *buffer = args[2].as<Variable>();
        if (buffer && buffer->name == ring.allocation().name)
            args[3] = args[3] + first * ring.allocation().type.bytes();
        return Call::make(op->type, op->name, args, op->call_type);
    }
};

class PipelineSteps : public LoopMutator {
public:
    PipelineSteps(const std::string &func, const std::string &loop)
        : LoopMutator("there is no loop " + loop + " of " + func + " to pipeline"), func(func), loop(loop) {}

private:
    const std::string func, loop;

    using LoopMutator::visit;
    Stmt visit(const For *op) override {
        if (func_of_loop(op->name) != func || variable_of_loop(op->name) != loop) return IRMutator::visit(op);
        found = true;
        const StepStages stages = stages_of(op->body);
        const int last = static_cast<int>(stages.rings.size());
        _halide_user_assert(last > 0 && op->for_type == ForType::Serial)
            << "loop " << op->name << ": nothing is stored in it for a next stage\n";

        const Expr turn = Variable::make(Int(32), op->name), end = op->min + op->extent;
        std::vector<Stmt> together, some;
        for (int stage = 0; stage <= last; stage++) {
            Stmt s = stages.each[stage];
            for (int ring : {stage - 1, stage})
                if (ring >= 0 && ring < last) s = TakeCopy(stages.rings[ring], turn).mutate(s);
            s = substitute(op->name, turn - stage, s);
            together.push_back(s);
            some.push_back(IfThenElse::make(turn >= op->min + stage && turn < end + stage, s));
        }
        const Stmt turns =
            IfThenElse::make(turn >= op->min + last && turn < end, interleave(together), Block::make(some));
        Stmt all = For::make(op->name, op->min, op->extent + last, ForType::Serial, op->partition_policy,
                             op->device_api, turns);
        for (const StageRing &ring : stages.rings) {
            const Allocate &a = ring.allocation();
            _halide_user_assert(ring.size > 0) << "loop " << op->name << ": " << a.name << " has no constant extent\n";
            all = Allocate::make(a.name, a.type, a.memory_type, {static_cast<int>(copies * ring.size)}, const_true(),
                                 Block::make(all, Free::make(a.name)));
        }
        return all;
    }
};

} // namespace

void pipeline_steps(GeneratorBase &generator, const Func &of, const std::string &loop) {
    generator.get_pipeline().add_custom_lowering_pass(new PipelineSteps(of.name(), loop));
}

} // namespace gyre
