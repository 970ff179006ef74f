#include "warp_printer.h"

#include "barriers.h"
#include "primitives.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class FindArrays : public IRVisitor {
    using IRVisitor::visit;
    void visit(const Allocate *op) override {
        if (op->memory_type != MemoryType::GPUShared) arrays[op->name] = {op->type, op->constant_allocation_size()};
        IRVisitor::visit(op);
    }

public:
    std::map<std::string, std::pair<Type, int>> arrays;
};

} // namespace

void WarpPrinter::print_body(const Stmt &kernel) {
    has_tiles = has_warp_tile(kernel);
    if (!has_tiles) return Printer::print_body(kernel);
    const Stmt body = without_lets(kernel);
    FindArrays find;
    body.accept(&find);
    fragments.find(find_warp_nests(body), find.arrays);
    synchronises = true; // a warp's lanes wait for each other
    Printer::print_body(place_barriers(body, fragments, aligned, by_warpgroups, copying));
    has_tiles = false;
}

void WarpPrinter::open(const std::string &head) {
    stream << get_indent() << head << "\n";
    open_scope();
}

void WarpPrinter::open_if(const Expr &condition) {
    const std::string holds = print_expr(condition);
    open("if (" + holds + ")");
}

void WarpPrinter::close(size_t count) {
    while (count--) close_scope("");
}

void WarpPrinter::open_loops(const std::vector<WarpLoop> &unrolled) {
    for (const WarpLoop &loop : unrolled) {
        const std::string v = print_name(loop.name);
        stream << get_indent() << "#pragma unroll\n";
        open("for (int " + v + " = 0; " + v + " < " + std::to_string(loop.extent) + "; " + v + "++)");
    }
}

void WarpPrinter::open_row_tiles() {
    if (!nest->row_tiles.name.empty()) open_loops({nest->row_tiles});
}

void WarpPrinter::close_row_tiles() { close(!nest->row_tiles.name.empty()); }

void WarpPrinter::open_rows() {
    open_row_tiles();
    stream << get_indent() << "#pragma unroll\n";
    open("for (int half = 0; half < 2; half++)");
    stream << get_indent() << "const int " << print_name(nest->row) << " = GYRE_LANE / 4 + 8 * half;\n";
}

void WarpPrinter::close_rows() {
    close();
    close_row_tiles();
}

void WarpPrinter::visit(const Allocate *op) {
    const Fragment *f = has_tiles ? fragments[op->name] : nullptr;
    if (!f) return Printer::visit(op);
    stream << get_indent() << (f->is_packed() ? "uint32_t" : print_type(op->type)) << " " << print_name(op->name) << "["
           << f->registers() << "];\n";
    print_stmt(op->body);
}

void WarpPrinter::visit(const Call *op) {
    if (op->name != not_finite_tile) return Printer::visit(op);
    const Load *first = op->args[0].as<Load>(), *below = op->args[1].as<Load>();
    if (!has_tiles || nest || !first || !below || !shared.count(first->name) ||
        (first->type.bits() != 16 && first->type != Float(32)))
        refuse("a search of what is no tile of numbers of 16 bits, or in f32, in shared memory");
    const auto stride = as_const_int(simplify(below->index - first->index));
    const auto rows = as_const_int(op->args[2]), columns = as_const_int(op->args[3]), warps = as_const_int(op->args[4]);
    if (!stride || !rows || !columns || !warps) refuse("a search of a tile whose extents are not constant");
    std::ostringstream call;
    if (copying.count)
        call << wait_for_computing_call << "_or_flawed<" << *warps * warp_lanes << ", ";
    else
        call << op->name << "<";
    call << print_type(first->type) << ", " << *rows << ", " << *columns << ", " << *stride << ", " << *warps << ">("
         << print_name(first->name) << ", " << print_expr(first->index) << ")";
    print_assignment(op->type, call.str());
}

void WarpPrinter::visit(const For *op) {
    if (is_staged(op)) return print_staged_loop(op);
    if (!print_row_copies(op)) Printer::visit(op);
}

void WarpPrinter::visit(const Load *op) {
    const Fragment *f = has_tiles ? fragments[op->name] : nullptr;
    if (!f) return Printer::visit(op);
    if (f->is_packed()) refuse("numbers of 16 bits are read one by one from " + op->name);
    print_assignment(op->type, register_of(op->name, op->index));
}

void WarpPrinter::visit(const IfThenElse *op) {
    if (print_turns(op) || print_copying_warps(op)) return;
    const Evaluate *nothing = op->then_case.as<Evaluate>();
    if (nothing && is_const(nothing->value) && !op->else_case.defined()) return;
    Expr rest;
    const bool scalars = has_tiles && fragments.stores_scalars(op->then_case);
    const bool tiles = has_tiles && !scalars && is_for_warp(op->condition, &rest);
    if (op->else_case.defined() || (!scalars && !tiles)) return Printer::visit(op);
    if (scalars) rest = for_all_threads(op->condition);
    const bool guarded = rest.defined() && !is_const_one(rest);
    if (guarded) open_if(rest);
    scalars ? print_stmt(op->then_case) : print_for_warp(op->then_case);
    if (guarded) close();
}

void WarpPrinter::print_for_warp(const Stmt &s) {
    if (const Block *block = s.as<Block>()) {
        print_for_warp(block->first);
        print_for_warp(block->rest);
    } else if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
        print_for_warp(op->body);
    } else if (const LetStmt *let = s.as<LetStmt>()) {
        print_for_warp(substitute(let->name, let->value, let->body));
    } else if (const IfThenElse *branch = s.as<IfThenElse>(); branch && !branch->else_case.defined()) {
        Expr rest;
        is_for_warp(branch->condition, &rest); // which it is once more
        if (rest.defined()) open_if(rest);
        print_for_warp(branch->then_case);
        if (rest.defined()) close();
    } else if (const For *loop = s.as<For>()) {
        if (!has_warp_tile(s)) refuse("the loop " + loop->name + " of one lane is no tile");
        print_nest(read_warp_nest(loop));
    } else if (const Evaluate *nothing = s.as<Evaluate>(); !nothing || !is_const(nothing->value)) {
        refuse("what one lane does is neither a tile nor a number that all threads share");
    }
}

} // namespace gyre::cuda
