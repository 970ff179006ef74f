// How barriers, copies and loops that are filled ahead are printed, where barriers.h has placed them.
#include "barriers.h"
#include "warp_nest.h"
#include "warp_printer.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

void WarpPrinter::visit(const Evaluate *op) {
    const Call *call = op->value.as<Call>();
    if (call && call->name == staged_turn) return; // the loop's head says so
    const bool commits = call && call->name == commit_call, waits = call && call->name == wait_call;
    const bool fences = call && call->name == fence_call;
    if (call && print_ring_statement(call)) return;
    if (!commits && !waits && !fences) return Printer::visit(op);
    const std::string later = waits ? "<" + print_expr(call->args[0]) + ">" : "";
    stream << get_indent() << call->name << later << "();\n";
    cache.clear();
}

// The first argument is the template's.
bool WarpPrinter::print_ring_statement(const Call *call) {
    const std::set<std::string> all{filling_call,      end_filling_call, wait_filled_call,       emptied_call,
                                    wait_emptied_call, begin_rings_call, wait_for_computing_call};
    if (!all.count(call->name)) return false;
    std::vector<std::string> arguments;
    for (const Expr &e : call->args) arguments.push_back(print_expr(e));
    stream << get_indent() << call->name << "<" << arguments[0] << ">(";
    for (size_t i = 1; i < arguments.size(); i++) stream << (i > 1 ? ", " : "") << arguments[i];
    stream << ");\n";
    cache.clear();
    return true;
}

bool WarpPrinter::print_copying_warps(const IfThenElse *op) {
    const Call *asked = op->condition.as<Call>();
    if (!asked || asked->name != is_copying_warp) return false;
    const int computing = static_cast<int>(*as_const_int(asked->args[0]));
    open("if (GYRE_THREAD_Y >= " + std::to_string(computing) + ")");
    stream << get_indent() << "gyre_fewer_registers<" << copying_registers << ">();\n";
    print_stmt(op->then_case);
    stream << get_indent() << "return;\n";
    close();
    stream << get_indent() << "gyre_more_registers<" << computing_registers(computing, copying.count) << ">();\n";
    print_stmt(op->else_case);
    return true;
}

void WarpPrinter::visit(const Store *op) {
    const Copy copy = read_copy(op);
    if (!copy.from) return Printer::visit(op);
    const Ramp *to = op->index.as<Ramp>(), *from = copy.from->index.as<Ramp>();
    if (!to) {
        const std::string at = print_expr(op->index), of = print_expr(copy.from->index);
        stream << get_indent() << "gyre_copy_async_word(" << print_name(op->name) << ", " << at << ", "
               << print_name(copy.from->name) << " + " << of << ");\n";
        cache.clear();
        return;
    }
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

// A lambda of what `place` depends on: nothing that was computed for other values of its parameters is of use in it, or after it.
void WarpPrinter::print_place(const std::string &name, const std::string &parameters, const Expr &place) {
    cache.clear();
    open("const auto " + name + " = [&](" + parameters + ")");
    const std::string result = print_expr(without_lets(place));
    stream << get_indent() << "return " << result << ";\n";
    close();
    stream << get_indent() << ";\n";
    cache.clear();
}

bool WarpPrinter::print_row_copies(const For *loop) {
    const auto runs = copies_of_row.find(loop->name.substr(0, loop->name.find('.')));
    if (runs == copies_of_row.end()) return false;
    Stmt body = loop->body;
    while (!body.as<Store>()) {
        if (const LetStmt *let = body.as<LetStmt>())
            body = substitute(let->name, let->value, let->body);
        else if (const ProducerConsumer *op = body.as<ProducerConsumer>())
            body = op->body;
        else
            break;
    }
    const Store *store = body.as<Store>();
    const Copy copy = store ? read_copy(store) : Copy{nullptr, false};
    const auto turns = as_const_int(loop->extent);
    if (!copy.from || !copy.aligned || !turns || !is_const_zero(loop->min))
        refuse("a loop that copies rows whose places are shared, and more: " + loop->name);
    const Ramp *to = store->index.as<Ramp>(), *from = copy.from->index.as<Ramp>();
    const std::string turn = print_name(loop->name), to_name = fresh("_to"), from_name = fresh("_from");
    open("");
    print_place(to_name, "int " + turn, to->base);
    print_place(from_name, "int " + turn + ", int " + print_name(lane_index), from->base);
    stream << get_indent() << "gyre_copy_rows<" << to->lanes << ", " << *turns << ", " << runs->second << ">("
           << print_name(store->name) << ", " << to_name << ", " << print_name(copy.from->name) << ", " << from_name
           << ");\n";
    close();
    cache.clear();
    return true;
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
