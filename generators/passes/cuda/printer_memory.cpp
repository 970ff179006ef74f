// How memory is printed: what is loaded, stored and declared, an element at a time.
#include "lanes.h"
#include "primitives.h"
#include "printer.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// Takes the places out of a stored value, which Halide may have taken apart: all of its parts have the same.
class TakePlace : public IRMutator {
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->name != placed_value) return IRMutator::visit(op);
        distance = lane_of(op->args[1], 0);
        condition = lane_of(op->args[2], 0);
        return op->args[0];
    }

public:
    Expr distance, condition;
};

} // namespace

void Printer::visit(const Load *op) {
    if (!is_const_one(op->predicate)) refuse("a guarded read of " + op->name + " by itself");
    const std::string index = print_expr(op->index), name = print_name(op->name);
    if (shared.count(op->name))
        print_assignment(op->type, "gyre_shared_load<" + print_type(op->type) + ">(" + name + ", " + index + ")");
    else
        print_assignment(op->type, name + "[" + index + "]");
}

void Printer::print_store(const std::string &name, const std::string &index, const std::string &value) {
    if (shared.count(name))
        stream << "gyre_shared_store(" << print_name(name) << ", " << index << ", " << value << ");\n";
    else
        stream << print_name(name) << "[" << index << "] = " << value << ";\n";
}

void Printer::visit(const Store *op) {
    TakePlace place;
    const Expr value = place.mutate(op->value);
    if (place.condition.defined()) { // where and whether to store is the device's choice
        const int lanes = value.type().lanes();
        const Expr distance = lanes > 1 ? Broadcast::make(place.distance, lanes) : place.distance;
        const std::string holds = print_expr(place.condition);
        stream << get_indent() << "if (" << holds << ")\n";
        open_scope();
        print_stmt(Store::make(op->name, value, simplify(op->index + distance), op->param, op->predicate, {}));
        close_scope("");
        return;
    }
    if (op->value.type().is_vector()) {
        store_vector(op);
    } else {
        if (!is_const_one(op->predicate)) refuse("a guarded write of one element of " + op->name);
        const std::string value = print_expr(op->value), at = print_expr(op->index);
        stream << get_indent();
        print_store(op->name, at, value);
    }
    cache.clear(); // what was read may have changed
}

void Printer::visit(const Allocate *op) {
    const int size = op->constant_allocation_size();
    if (size <= 0) refuse("the array " + op->name + " of a size that is not constant");
    if (op->memory_type == MemoryType::GPUShared) {
        declare_shared(op);
        return print_stmt(op->body);
    }
    arrays.insert(op->name);
    stream << get_indent() << print_type(op->type) << " " << print_name(op->name) << "[" << size << "];\n";
    print_stmt(op->body);
}

/// Allocations of a block lie one after the other in its dynamic shared memory.
void Printer::declare_shared(const Allocate *op) {
    const int begin = (shared_end + shared_alignment - 1) / shared_alignment * shared_alignment;
    shared_end = begin + op->constant_allocation_size() * op->type.bytes();
    shared.insert(op->name);
    const std::string type = print_type(op->type);
    stream << get_indent() << type << " *const " << print_name(op->name) << " = (" << type
           << " *)(GYRE_SHARED_MEMORY + " << begin << ");\n";
}

void Printer::visit(const Free *) {}

} // namespace gyre::cuda
