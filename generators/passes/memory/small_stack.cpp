#include "small_stack.h"

#include "joined_tuples.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

constexpr int32_t most = 64, most_in_loop = 256, most_of_tuple = 640; // bytes that stay on the stack

class PlaceAllocations : public IRMutator {
protected:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        loops++;
        Stmt same = IRMutator::visit(op);
        loops--;
        return same;
    }

    Stmt visit(const Allocate *op) override {
        Stmt body = mutate(op->body);
        MemoryType type = op->memory_type;
        const int32_t bytes = op->constant_allocation_size() * op->type.bytes();
        if (type == MemoryType::Auto && bytes > 0)
            type = bytes > (loops > 0 ? most_in_loop : most) ? MemoryType::Heap : MemoryType::Stack;
        return Allocate::make(op->name, op->type, type, op->extents, op->condition, body, op->new_expr,
                              op->free_function, op->padding);
    }

private:
    int loops = 0;
};

} // namespace

void use_small_stack(GeneratorBase &generator) {
    generator.get_pipeline().add_custom_lowering_pass(new PlaceAllocations);
    join_tuples(generator, most_of_tuple);
}

} // namespace gyre
