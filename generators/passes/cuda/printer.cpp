#include "printer.h"

#include "../loop_name.h"
#include "lanes.h"

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
    stream << "}\n// shared memory: " << shared_end << " bytes\n"
           << (synchronises ? "GYRE_COOPERATIVE_ENTRY(" : "GYRE_ENTRY(") << entry << ")\n\n";
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

void Printer::visit(const Call *op) {
    if (!op->is_intrinsic(Call::gpu_thread_barrier)) return CodeGen_GPU_C::visit(op);
    synchronises = true;
    stream << get_indent() << "GYRE_SYNC();\n";
    cache.clear(); // what was read may have changed
    id = "0";
}

/// Where a block is along an axis, in the order that Lowering says.
std::string Printer::print_block(char axis) {
    const auto along = [&](char of) {
        const std::string place = std::string("GYRE_BLOCK_") + of;
        return axis == 'X' && last_first ? std::string("GYRE_GRID_") + of + " - 1 - " + place : place;
    };
    if (axis == 'Z' || !across_first.defined()) return along(axis);
    const std::string across = print_expr(across_first);
    return across + " ? " + along(axis == 'X' ? 'Y' : 'X') + " : " + along(axis);
}

void Printer::visit(const For *op) {
    loops.push_back(op->name);
    if (is_gpu(op->for_type)) {
        const std::string index = variable_of_loop(op->name); // block_id_x … thread_id_z
        const std::string axis = index.substr(index.size() - 1), of = index.substr(0, 5);
        const bool is_block = of == "block";
        const char upper = static_cast<char>(std::toupper(axis[0]));
        const std::string value = is_block ? print_block(upper) : std::string("GYRE_THREAD_") + upper;
        stream << get_indent() << "const int " << print_name(op->name) << " = " << value << ";\n";
        print_stmt(op->body);
    } else {
        if (op->for_type == ForType::Parallel || op->for_type == ForType::Vectorized)
            refuse("a loop that is neither of blocks, of threads nor serial");
        CodeGen_GPU_C::visit(op);
    }
    loops.pop_back();
}

} // namespace gyre::cuda
