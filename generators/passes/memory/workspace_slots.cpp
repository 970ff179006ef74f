#include "workspace_slots.h"

#include "allocation_bounds.h"
#include "slot_pool.h"

#include <map>
#include <string>
#include <vector>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

bool is_constant_place(const Expr &index) {
    const Ramp *ramp = index.as<Ramp>();
    return ramp ? is_constant_place(ramp->base) && is_const(ramp->stride) : is_const(index);
}

/// Finds out whether all elements of a block are used at constant places, so that the compiler can keep them in registers.
class FindPlaces : public IRVisitor {
public:
    bool all_constant = true;

    explicit FindPlaces(const std::string &name) : name(name) {}

private:
    using IRVisitor::visit;
    const std::string &name;

    void visit(const Load *op) override {
        if (op->name == name && !is_constant_place(op->index)) all_constant = false;
        IRVisitor::visit(op);
    }
    void visit(const Store *op) override {
        if (op->name == name && !is_constant_place(op->index)) all_constant = false;
        IRVisitor::visit(op);
    }
    void visit(const Variable *op) override {
        if (op->name == name) all_constant = false; // an instruction takes its address
    }
};

/// Renames each block to its slot: LLVM takes memory of different names to be disjoint, so all blocks of a slot have one name.
class UseSlots : public AllocationBounds {
public:
    UseSlots(int64_t most_on_stack, bool memory_apart) : most_on_stack(most_on_stack), memory_apart(memory_apart) {}

    using AllocationBounds::mutate;

    Stmt mutate(const Stmt &s) override {
        const bool outermost = depth++ == 0;
        Stmt mutated = AllocationBounds::mutate(s);
        depth--;
        if (!outermost) return mutated;
        for (const Allocate *op : apart)
            mutated = Allocate::make(op->name, op->type, MemoryType::Stack, op->extents, const_true(), mutated);
        apart.clear();
        return slots.empty() ? mutated : slots.allocate_around(mutated);
    }

protected:
    using AllocationBounds::visit;

    Stmt visit(const Allocate *op) override {
        if (stays_on_stack(op)) {
            if (memory_apart && op->memory_type != MemoryType::Register && op->constant_allocation_size() > 0 &&
                !all_constant(op)) {
                apart.push_back(op);
                return mutate(op->body);
            }
            const MemoryType type = op->memory_type == MemoryType::Auto ? MemoryType::Stack : op->memory_type;
            return Allocate::make(op->name, op->type, type, op->extents, op->condition, mutate(op->body), op->new_expr,
                                  op->free_function, op->padding);
        }
        const size_t slot = slots.take(op->type.element_of(), most_bytes(op) + op->padding * op->type.bytes());
        blocks[op->name] = {slot, branches};
        const Stmt body = mutate(op->body);
        blocks.erase(op->name);
        slots.give_back(slot);
        return body;
    }
    Stmt visit(const Free *op) override {
        for (const Allocate *other : apart)
            if (other->name == op->name) return Evaluate::make(0);
        const auto block = blocks.find(op->name);
        if (block == blocks.end()) return op;
        if (block->second.branches == branches) slots.give_back(block->second.slot);
        return Evaluate::make(0);
    }
    Stmt visit(const For *op) override { return in_branch(op); }
    Stmt visit(const IfThenElse *op) override { return in_branch(op); }

    Expr visit(const Load *op) override {
        const auto block = blocks.find(op->name);
        if (block == blocks.end()) return AllocationBounds::visit(op);
        return Load::make(op->type, slots.name(block->second.slot), mutate(op->index), {}, {}, mutate(op->predicate),
                          op->alignment);
    }
    Stmt visit(const Store *op) override {
        const auto block = blocks.find(op->name);
        if (block == blocks.end()) return AllocationBounds::visit(op);
        return Store::make(slots.name(block->second.slot), mutate(op->value), mutate(op->index), {},
                           mutate(op->predicate), op->alignment);
    }
    Expr visit(const Variable *op) override {
        const auto block = blocks.find(op->name);
        return block == blocks.end() ? Expr(op) : Variable::make(op->type, slots.name(block->second.slot));
    }

private:
    struct Block {
        size_t slot;
        int branches; // around it
    };
    const int64_t most_on_stack; // bytes of a block that is used at places which are not constant
    const bool memory_apart;
    std::vector<const Allocate *> apart; // blocks that live as long as the kernel
    SlotPool slots;
    std::map<std::string, Block> blocks; // by their names
    int depth = 0, branches = 0;

    template <typename Branch>
    Stmt in_branch(const Branch *op) {
        branches++;
        const Stmt mutated = AllocationBounds::visit(op);
        branches--;
        return mutated;
    }

    bool stays_on_stack(const Allocate *op) const {
        if (op->memory_type == MemoryType::Register || op->memory_type == MemoryType::AMXTile) return true;
        if (op->memory_type == MemoryType::Heap || op->constant_allocation_size() == 0) return op->extents.empty();
        return most_bytes(op) <= most_on_stack || all_constant(op);
    }
    static bool all_constant(const Allocate *op) {
        FindPlaces places(op->name);
        op->body.accept(&places);
        return places.all_constant;
    }
};

} // namespace

void use_workspace_slots(GeneratorBase &generator, int64_t most_on_stack, bool memory_apart) {
    generator.get_pipeline().add_custom_lowering_pass(new UseSlots(most_on_stack, memory_apart));
}

} // namespace gyre
