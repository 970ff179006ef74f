#include "printer.h"

#include "../loop_name.h"
#include "lanes.h"
#include "primitives.h"

#include <cmath>
#include <cstdio>

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

Printer::Printer() : CodeGen_GPU_C(written, Target("x86-64-linux-cuda")) {
    written.str(""); // what the C back end begins a file with
}

void Printer::refuse(const std::string &what) const {
    _halide_user_error << "CUDA: " << what << ", in the loop " << (loops.empty() ? "outside of all" : loops.back())
                       << "\n";
    throw std::logic_error(what); // not reached: user errors end the generator
}

void Printer::print_kernel(const For *nest, const std::string &entry, const std::vector<KernelArgument> &arguments,
                           int threads, int blocks) {
    shared.clear();
    shared_end = 0;
    synchronises = false;
    stream << "extern \"C\" __global__ void ";
    const std::string together = blocks ? ", " + std::to_string(blocks) : "";
    if (threads) stream << "__launch_bounds__(" << threads << together << ") ";
    stream << entry << "(";
    const char *separator = "";
    for (const KernelArgument &a : arguments) {
        stream << separator;
        separator = ", ";
        if (a.by_value)
            stream << "const GYRE_BY_VALUE gyre_by_value<" << print_type(a.type) << ", " << a.by_value << "> ";
        else
            stream << (a.is_buffer && !a.written ? "const " : "") << print_type(a.type) << (a.is_buffer ? " *" : " ");
        stream << print_name(a.name);
    }
    stream << ") {\n    GYRE_KERNEL_BEGIN\n";
    cache.clear();
    indent += 4;
    print_body(Stmt(nest));
    indent -= 4;
    stream << "}\n" << (synchronises ? "GYRE_COOPERATIVE_ENTRY(" : "GYRE_ENTRY(") << entry << ")\n\n";
}

std::string Printer::print_type(Type type, AppendSpaceIfNeeded space) {
    const char *const name = type.is_bfloat()                       ? "gyre_bf16"
                             : type.is_float() && type.bits() == 16 ? "gyre_f16"
                                                                    : nullptr;
    if (type.is_vector()) refuse("a vector where a scalar is expected");
    if (!name) return CodeGen_GPU_C::print_type(type, space);
    return name + std::string(space == AppendSpace ? " " : "");
}

void Printer::visit(const FloatImm *op) {
    if (!std::isfinite(op->value) || op->type.bits() != 32) return CodeGen_GPU_C::visit(op);
    char text[64];
    std::snprintf(text, sizeof text, "%af", op->value);
    id = text;
}

void Printer::visit(const Cast *op) {
    print_assignment(op->type, "gyre_cast<" + print_type(op->type) + ">(" + print_expr(op->value) + ")");
}

void Printer::visit(const Min *op) {
    print_assignment(op->type, "gyre_min(" + print_expr(op->a) + ", " + print_expr(op->b) + ")");
}

void Printer::visit(const Max *op) {
    print_assignment(op->type, "gyre_max(" + print_expr(op->a) + ", " + print_expr(op->b) + ")");
}

void Printer::visit(const Evaluate *op) {
    if (is_const(op->value)) return;
    const Call *call = op->value.as<Call>();
    if (!call || !call->is_intrinsic(Call::gpu_thread_barrier)) return CodeGen_GPU_C::visit(op);
    print_expr(op->value);
}

void Printer::visit(const VectorReduce *op) { id = print_expr(lane_of(Expr(op), 0)); }

void Printer::visit(const Load *op) {
    if (!is_const_one(op->predicate)) refuse("a guarded read of " + op->name + " by itself");
    const std::string index = print_expr(op->index), name = print_name(op->name);
    if (shared.count(op->name))
        print_assignment(op->type, "gyre_shared_load<" + print_type(op->type) + ">(" + name + ", " + index + ")");
    else
        print_assignment(op->type, name + "[" + index + "]");
}

void Printer::visit(const Call *op) {
    if (!op->is_intrinsic(Call::gpu_thread_barrier)) return CodeGen_GPU_C::visit(op);
    synchronises = true;
    stream << get_indent() << "GYRE_SYNC();\n";
    cache.clear(); // what was read may have changed
    id = "0";
}

/// An array of one boolean a lane; "": all are true.
std::string Printer::print_guards(const Expr &predicate) {
    if (is_const_one(predicate)) return "";
    const std::vector<std::string> lanes = print_lanes(predicate);
    const std::string guards = fresh("guards");
    stream << get_indent() << "const bool " << guards << "[" << lanes.size() << "] = {" << with_commas(lanes) << "};\n";
    return guards;
}

namespace {

/// True if a dense vector is a whole number of 16 bytes, and so aligned as well.
bool is_wide(const Load *op, const Expr &first) {
    const Type element = op->type.element_of();
    const ModulusRemainder at = modulus_remainder(first);
    return op->type.bytes() * op->type.lanes() % 16 == 0 && at.modulus % (16 / element.bytes()) == 0 &&
           at.remainder % (16 / element.bytes()) == 0;
}

} // namespace

/// An array of what is read from shared memory; it is read at once, wherever in an expression it stands.
Expr Printer::load_shared_vector(const Load *op, const Expr &first) {
    const std::string v = fresh("v"), at = print_expr(first), lanes = std::to_string(op->type.lanes());
    const std::string type = print_type(op->type.element_of());
    stream << get_indent() << type << " " << print_name(v) << "[" << lanes << "];\n"
           << get_indent() << "gyre_shared_load_vector<" << lanes << ">(" << print_name(v) << ", "
           << print_name(op->name) << ", " << at << ");\n";
    return Variable::make(op->type, v);
}

/// Reads what `e` reads densely from device memory into arrays; the same with these read instead.
Expr Printer::load_vectors(const Expr &e) {
    class Vectors : public IRMutator {
    public:
        explicit Vectors(Printer &p) : p(p) {}

    private:
        Printer &p;
        std::vector<std::pair<Expr, std::string>> known;
        using IRMutator::visit;

        Expr visit(const Load *op) override {
            const Expr first = op->type.is_vector() ? first_of_dense(op->index) : Expr();
            const bool guarded = !is_const_one(op->predicate);
            if (p.shared.count(op->name) && first.defined() && !guarded && is_wide(op, first))
                return p.load_shared_vector(op, first);
            if (p.arrays.count(op->name) || p.shared.count(op->name) || (!first.defined() && !guarded)) {
                if (guarded && p.shared.count(op->name)) p.refuse("a guarded read of shared memory, " + op->name);
                // Reading an array where it was not written is harmless.
                return Load::make(op->type, op->name, op->index, op->image, op->param, const_true(op->type.lanes()),
                                  op->alignment);
            }
            for (const auto &[load, array] : known)
                if (equal(load, Expr(op))) return Variable::make(op->type, array);
            const std::string guards = p.print_guards(op->predicate), v = p.fresh("v"), array = p.print_name(v);
            const std::string type = p.print_type(op->type.element_of()), from = p.print_name(op->name);
            if (first.defined()) {
                const std::string at = p.print_expr(first);
                p.stream << p.get_indent() << type << " " << array << "[" << op->type.lanes() << "];\n"
                         << p.get_indent() << "gyre_load<" << op->type.lanes() << ">(" << array << ", " << from << " + "
                         << at << (guarded ? ", " : "") << guards << ");\n";
            } else {
                std::vector<std::string> lanes;
                for (int lane = 0; lane < op->type.lanes(); lane++)
                    lanes.push_back(guards + "[" + std::to_string(lane) + "] ? " + from + "[" +
                                    p.print_expr(lane_of(op->index, lane)) + "] : " + type + "()");
                p.stream << p.get_indent() << "const " << type << " " << array << "[" << op->type.lanes() << "] = {"
                         << with_commas(lanes) << "};\n";
            }
            known.emplace_back(op, v);
            return Variable::make(op->type, v);
        }
    };
    return Vectors(*this).mutate(e);
}

std::vector<std::string> Printer::print_lanes(const Expr &vector) {
    const Expr loaded = load_vectors(vector);
    std::vector<std::string> lanes;
    for (int lane = 0; lane < vector.type().lanes(); lane++) lanes.push_back(print_expr(lane_of(loaded, lane)));
    return lanes;
}

void Printer::visit(const LetStmt *op) {
    if (!op->value.type().is_vector()) return CodeGen_GPU_C::visit(op);
    const std::vector<std::string> lanes = print_lanes(op->value);
    stream << get_indent() << "const " << print_type(op->value.type().element_of()) << " " << print_name(op->name)
           << "[" << lanes.size() << "] = {" << with_commas(lanes) << "};\n";
    arrays.insert(op->name);
    print_stmt(op->body);
}

void Printer::store_vector(const Store *op) {
    const int lanes = op->value.type().lanes();
    const Expr first = first_of_dense(op->index);
    const std::string guards = print_guards(op->predicate);
    const std::vector<std::string> values = print_lanes(op->value);
    if (!first.defined() || arrays.count(op->name) || shared.count(op->name)) {
        for (int lane = 0; lane < lanes; lane++) {
            const std::string at = print_expr(lane_of(op->index, lane));
            stream << get_indent();
            if (!guards.empty()) stream << "if (" << guards << "[" << lane << "]) ";
            print_store(op->name, at, values[static_cast<size_t>(lane)]);
        }
        return;
    }
    const std::string at = print_expr(first), v = fresh("stored");
    stream << get_indent() << "const " << print_type(op->value.type().element_of()) << " " << v << "[" << lanes
           << "] = {" << with_commas(values) << "};\n"
           << get_indent() << "gyre_store<" << lanes << ">(" << print_name(op->name) << " + " << at << ", " << v
           << (guards.empty() ? "" : ", ") << guards << ");\n";
}

void Printer::print_store(const std::string &name, const std::string &index, const std::string &value) {
    if (shared.count(name))
        stream << "gyre_shared_store(" << print_name(name) << ", " << index << ", " << value << ");\n";
    else
        stream << print_name(name) << "[" << index << "] = " << value << ";\n";
}

namespace {

/// Takes the places out of a stored value, which Halide may have taken apart: all of its parts have the same.
class TakePlace : public IRMutator {
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->name != placed_value) return IRMutator::visit(op);
        distance = lane_of(op->args[1], 0), condition = lane_of(op->args[2], 0);
        return op->args[0];
    }

public:
    Expr distance, condition;
};

} // namespace

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
    constexpr int alignment = 16;
    const int begin = (shared_end + alignment - 1) / alignment * alignment;
    shared_end = begin + op->constant_allocation_size() * op->type.bytes();
    shared.insert(op->name);
    const std::string type = print_type(op->type);
    stream << get_indent() << type << " *const " << print_name(op->name) << " = (" << type
           << " *)(GYRE_SHARED_MEMORY + " << begin << ");\n";
}

void Printer::visit(const Free *) {}

void Printer::visit(const For *op) {
    loops.push_back(op->name);
    if (is_gpu(op->for_type)) {
        const std::string index = variable_of_loop(op->name); // block_id_x … thread_id_z
        const std::string axis = index.substr(index.size() - 1), of = index.substr(0, 5);
        const bool is_block = of == "block";
        stream << get_indent() << "const int " << print_name(op->name) << " = ";
        if (is_block && axis == "x")
            stream << block_x << ";\n";
        else
            stream << (is_block ? "GYRE_BLOCK_" : "GYRE_THREAD_") << static_cast<char>(std::toupper(axis[0])) << ";\n";
        print_stmt(op->body);
    } else {
        if (op->for_type == ForType::Parallel || op->for_type == ForType::Vectorized)
            refuse("a loop that is neither of blocks, of threads nor serial");
        CodeGen_GPU_C::visit(op);
    }
    loops.pop_back();
}

} // namespace gyre::cuda
