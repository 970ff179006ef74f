#include "given_memory.h"

#include <string>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class UseGiven : public IRMutator {
private:
    using IRMutator::visit;
    std::string given; // the allocation that is

    Stmt visit(const Allocate *op) override {
        if (op->memory_type != MemoryType::Heap) return IRMutator::visit(op);
        _halide_user_assert(given.empty()) << "a second allocation beside " << given << ": " << op->name << "\n";
        given = op->name;
        const Expr place = Load::make(Handle(), "__user_context", 0, {}, {}, const_true(), {});
        const Stmt body = mutate(op->body);
        given.clear();
        return LetStmt::make(op->name, place, body);
    }
    Stmt visit(const Free *op) override { return op->name == given ? Evaluate::make(0) : Stmt(op); }
};

} // namespace

void use_given_memory(GeneratorBase &generator) { generator.get_pipeline().add_custom_lowering_pass(new UseGiven); }

} // namespace gyre
