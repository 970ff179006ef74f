#include "workspace_slots.h"

#include "allocation_bounds.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

constexpr int64_t most_on_stack = 256; // bytes of a block that is used at places which are not constant
constexpr int64_t slot_alignment = 64;
constexpr int64_t gap = 64; // after each slot: vectors may be read past a block's end

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

/// Memory that blocks of one type have in turn.
struct Slot {
    std::string name;
    Type type;
    int64_t bytes;
    bool taken;
};

/// Renames each block to its slot: LLVM takes memory of different names to be disjoint, so all blocks of a slot have one name.
class UseSlots : public AllocationBounds {
public:
    using AllocationBounds::mutate;

    Stmt mutate(const Stmt &s) override {
        const bool outermost = depth++ == 0;
        const Stmt mutated = AllocationBounds::mutate(s);
        depth--;
        return outermost && !slots.empty() ? with_workspace(mutated) : mutated;
    }

protected:
    using AllocationBounds::visit;

    Stmt visit(const Allocate *op) override {
        if (stays_on_stack(op)) {
            const MemoryType type = op->memory_type == MemoryType::Auto ? MemoryType::Stack : op->memory_type;
            return Allocate::make(op->name, op->type, type, op->extents, op->condition, mutate(op->body), op->new_expr,
                                  op->free_function, op->padding);
        }
        const size_t slot = take_slot(op->type.element_of(), most_bytes(op) + op->padding * op->type.bytes());
        blocks[op->name] = {slot, branches};
        const Stmt body = mutate(op->body);
        blocks.erase(op->name);
        slots[slot].taken = false;
        return body;
    }
    Stmt visit(const Free *op) override {
        const auto block = blocks.find(op->name);
        if (block == blocks.end()) return op;
        if (block->second.branches == branches) slots[block->second.slot].taken = false;
        return Evaluate::make(0);
    }
    Stmt visit(const For *op) override { return in_branch(op); }
    Stmt visit(const IfThenElse *op) override { return in_branch(op); }

    Expr visit(const Load *op) override {
        const auto block = blocks.find(op->name);
        if (block == blocks.end()) return AllocationBounds::visit(op);
        return Load::make(op->type, slots[block->second.slot].name, mutate(op->index), {}, {}, mutate(op->predicate),
                          op->alignment);
    }
    Stmt visit(const Store *op) override {
        const auto block = blocks.find(op->name);
        if (block == blocks.end()) return AllocationBounds::visit(op);
        return Store::make(slots[block->second.slot].name, mutate(op->value), mutate(op->index), {},
                           mutate(op->predicate), op->alignment);
    }
    Expr visit(const Variable *op) override {
        const auto block = blocks.find(op->name);
        return block == blocks.end() ? Expr(op) : Variable::make(op->type, slots[block->second.slot].name);
    }

private:
    struct Block {
        size_t slot;
        int branches; // around it
    };
    std::vector<Slot> slots;
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
        if (most_bytes(op) <= most_on_stack) return true;
        FindPlaces places(op->name);
        op->body.accept(&places);
        return places.all_constant;
    }

    /// The smallest free slot that suffices, else the largest, which grows; a new one if none of the type is free.
    size_t take_slot(const Type &type, int64_t bytes) {
        size_t best = slots.size();
        const auto is_better = [&](int64_t size, int64_t than) {
            return size >= bytes ? than < bytes || size < than : than < size;
        };
        for (size_t i = 0; i < slots.size(); i++)
            if (!slots[i].taken && slots[i].type == type &&
                (best == slots.size() || is_better(slots[i].bytes, slots[best].bytes)))
                best = i;
        if (best == slots.size()) slots.push_back({unique_name("slot"), type, 0, false});
        slots[best].bytes = std::max(slots[best].bytes, bytes);
        slots[best].taken = true;
        return best;
    }

    Stmt with_workspace(Stmt body) const {
        const std::string workspace = unique_name("workspace");
        const Expr begin = reinterpret<uint64_t>(Variable::make(Handle(), workspace));
        int64_t end = 0;
        for (const Slot &slot : slots) {
            const Expr address = reinterpret(Handle(), begin + make_const(UInt(64), end));
            body = LetStmt::make(slot.name, address, body);
            end += (slot.bytes + slot_alignment - 1) / slot_alignment * slot_alignment + gap;
        }
        body = Internal::Block::make(body, Free::make(workspace));
        return Allocate::make(workspace, UInt(8), MemoryType::Heap, {Expr(static_cast<int32_t>(end))}, const_true(),
                              body);
    }
};

} // namespace

void use_workspace_slots(GeneratorBase &generator) { generator.get_pipeline().add_custom_lowering_pass(new UseSlots); }

} // namespace gyre
