// When shared memory is filled, and when threads wait for it.
#include "conditional_nests.h"
#include "warp_printer.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// True if some of a statement may not run, or more than once.
bool has_branches(const Stmt &s) {
    class Find : public IRVisitor {
        using IRVisitor::visit;
        void visit(const For *op) override {
            found = found || !is_gpu(op->for_type);
            IRVisitor::visit(op);
        }
        void visit(const IfThenElse *) override { found = true; }

    public:
        bool found = false;
    } find;
    s.accept(&find);
    return find.found;
}

} // namespace

void WarpPrinter::barrier() {
    if (is_touched && !in_staged_loop) {
        if (is_copied) stream << get_indent() << "gyre_copies_commit();\n";
        stream << get_indent() << "gyre_copies_wait<0>();\n" << get_indent() << "GYRE_SYNC();\n";
    }
    is_touched = is_copied = false;
    cache.clear();
}

void WarpPrinter::visit(const Store *op) {
    is_touched = is_touched || shared.count(op->name);
    const Load *from = op->value.as<Load>();
    const Ramp *to = op->index.as<Ramp>();
    const Ramp *source = from ? from->index.as<Ramp>() : nullptr;
    const bool copies = has_tiles && shared.count(op->name) && to && source && is_const_one(to->stride) &&
                        is_const_one(source->stride) && !shared.count(from->name) && is_const_one(op->predicate) &&
                        is_const_one(from->predicate) && op->value.type().bytes() * op->value.type().lanes() == 16;
    if (!copies) return Printer::visit(op);
    const std::string at = print_expr(to->base), of = print_expr(source->base);
    std::ostringstream copy;
    copy << (aligned.count(from->name) ? "gyre_copy_async<" : "gyre_copy_async_if_aligned<") << to->lanes << ">("
         << print_name(op->name) << ", " << at << ", " << print_name(from->name) << " + " << of << ");\n";
    if (defers_copies) {
        copies_to_come.push_back(copy.str());
        return;
    }
    stream << get_indent() << copy.str();
    is_copied = true;
    cache.clear();
}

// A copy is an operation that no read of memory passes: what copies need to know of where they are from, say entries of a table
// of pages, is read before the first of them, and once.
void WarpPrinter::print_staging(const std::vector<Stmt> &staging) {
    defers_copies = true;
    for (const Stmt &s : staging) defers_copies = defers_copies && !has_branches(s);
    for (const Stmt &s : staging) print_stmt(s);
    defers_copies = false;
    for (const std::string &copy : copies_to_come) stream << get_indent() << copy;
    copies_to_come.clear();
    cache.clear();
}

// Each turn waits for what it reads, then asks for what a later one reads, and computes while that arrives. Turns that leave
// out what is under a condition known before them go through a loop of their own, which has nothing of that in it.
void WarpPrinter::print_staged_loop(const For *loop, const StagedLoop &staged) {
    if (stores_into(staged.body, shared)) refuse("a loop that shared memory is filled for ahead fills more of it");
    const int ahead = staged.slots - 1;
    barrier();
    const std::string begin = print_expr(loop->min), end = print_expr(simplify(loop->min + loop->extent));
    const auto stage = [&](const Expr &turn) {
        open("if (" + print_expr(turn) + " < " + end + ")");
        std::vector<Stmt> of_turn;
        for (const Stmt &s : staged.staging) of_turn.push_back(substitute(loop->name, turn, s));
        print_staging(of_turn);
        close();
        stream << get_indent() << "gyre_copies_commit();\n";
        cache.clear();
    };
    const auto print_turn = [&](const Stmt &body) {
        stream << get_indent() << "gyre_copies_wait<" << ahead - 1 << ">();\n" << get_indent() << "GYRE_SYNC();\n";
        stage(Variable::make(Int(32), loop->name) + ahead);
        in_staged_loop = true; // whose body only reads what was there at its beginning
        print_stmt(body);
        in_staged_loop = false;
        cache.clear();
    };
    for (int turn = 0; turn < ahead; turn++) stage(simplify(loop->min + turn));
    const Unconditional most = without_conditional_nests(staged.body, loop->body,
                                                         [this](const Stmt &s) { return fragments.stores_scalars(s); });
    const std::string v = print_name(loop->name);
    loops.push_back(loop->name);
    stream << get_indent() << "#pragma unroll 1\n";
    open("for (int " + v + " = " + begin + "; " + v + " < " + end + "; " + v + "++)");
    print_turn(staged.body);
    if (most.else_when.defined()) {
        stream << get_indent() << "#pragma unroll 1\n";
        open("while (" + v + " + 1 < " + end + ")");
        const Expr next = Variable::make(Int(32), loop->name) + 1;
        const std::string ends = print_expr(substitute(loop->name, next, most.else_when));
        stream << get_indent() << "if (" << ends << ") break;\n" << get_indent() << v << "++;\n";
        cache.clear();
        print_turn(most.rest);
        close();
    }
    close();
    loops.pop_back();
    is_touched = true;
}

} // namespace gyre::cuda
