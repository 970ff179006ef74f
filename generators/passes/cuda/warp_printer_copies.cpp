// How barriers, copies and loops that are filled ahead are printed, where barriers.h has placed them.
#include "barriers.h"
#include "warp_printer.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

void WarpPrinter::visit(const Evaluate *op) {
    const Call *call = op->value.as<Call>();
    if (call && call->name == staged_turn) return; // the loop's head says so
    if (call && call->name == take_sums_call) return print_taken_sums(call->args[0].as<StringImm>()->value);
    const bool commits = call && call->name == commit_call, waits = call && call->name == wait_call;
    const bool fences = call && call->name == fence_call;
    if (!commits && !waits && !fences) return Printer::visit(op);
    const std::string later = waits ? "<" + print_expr(call->args[0]) + ">" : "";
    stream << get_indent() << call->name << later << "();\n";
    cache.clear();
}

void WarpPrinter::visit(const Store *op) {
    const Copy copy = read_copy(op);
    if (!copy.from) return Printer::visit(op);
    const Ramp *to = op->index.as<Ramp>(), *from = copy.from->index.as<Ramp>();
    const std::string at = print_expr(to->base), of = print_expr(from->base);
    stream << get_indent() << (copy.aligned ? "gyre_copy_async<" : "gyre_copy_async_if_aligned<") << to->lanes << ">("
           << print_name(op->name) << ", " << at << ", " << print_name(copy.from->name) << " + " << of << ");\n";
    cache.clear();
}

void WarpPrinter::print_staged_loop(const For *loop) {
    const std::string v = print_name(loop->name);
    const std::string first = print_expr(loop->min), end = print_expr(simplify(loop->min + loop->extent));
    loops.push_back(loop->name);
    stream << get_indent() << "#pragma unroll 1\n";
    open("for (int " + v + " = " + first + "; " + v + " < " + end + "; " + v + "++)");
    print_stmt(loop->body);
    close();
    loops.pop_back();
}

bool WarpPrinter::print_turns(const IfThenElse *op) {
    const Call *asked = op->condition.as<Call>();
    if (!asked) return false;
    if (asked->name == has_turn) {
        const std::string turn = print_expr(asked->args[0]), end = print_expr(asked->args[1]);
        open("if (" + turn + " < " + end + ")");
    } else if (asked->name == next_turns) {
        const std::string v = print_expr(asked->args[0]), end = print_expr(asked->args[1]);
        stream << get_indent() << "#pragma unroll 1\n";
        open("while (" + v + " + 1 < " + end + ")");
        const std::string ends = print_expr(asked->args[2]);
        stream << get_indent() << "if (" << ends << ") break;\n" << get_indent() << v << "++;\n";
        cache.clear();
    } else {
        return false;
    }
    print_stmt(op->then_case);
    close();
    return true;
}

} // namespace gyre::cuda
