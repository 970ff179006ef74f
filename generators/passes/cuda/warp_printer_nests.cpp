// What a warp does with one nest of its tiles.
#include "primitives.h"
#include "warp_printer.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

void WarpPrinter::print_nest(const WarpNest &read) {
    nest = &read;
    column = read.column;
    loops.push_back(read.name);
    Expr condition = read.condition, rest;
    if (condition.defined()) open("if (" + print_expr(condition) + ")");
    const WarpStore &first = read.stores.front();
    const Fragment *into = fragments[first.array];
    const bool along_row = into && into->kind == Fragment::Kind::row && !fragments.is_same_in_row(read, first.value);
    if (!read.depth.empty())
        print_product(first);
    else if (along_row)
        print_reduction(first);
    else
        print_elementwise();
    if (condition.defined()) close();
    loops.pop_back();
    nest = nullptr;
    cache.clear();
}

/// The register of an element, or of both elements of a packed pair, for the row and column that are being printed.
std::string WarpPrinter::register_of(const std::string &array, const Expr &index) {
    const Fragment &f = *fragments[array];
    const std::string name = print_name(array);
    if (f.kind == Fragment::Kind::scalar) return name + "[0]";
    if (!nest) refuse("elements of the tile " + array + " are used outside of a tile");
    if (f.kind == Fragment::Kind::row) {
        nest->require(step_of(index, nest->row) == f.columns && f.is_own_warp(index),
                      "has " + array + " in rows that are not its own");
        return name + "[half]";
    }
    const std::string tile = print_expr(fragments.tile(*nest, array, index, column));
    return name + "[" + tile + (f.is_packed() ? " * 2 + half]" : " * 4 + half * 2 + pair]");
}

/// Prints the largest parts of an expression that are the same along a row, before the columns are gone through.
Expr WarpPrinter::print_row_terms(const Expr &e) {
    class Hoist : public IRMutator {
    public:
        Hoist(WarpPrinter &p) : p(p) {}
        using IRMutator::mutate;
        Expr mutate(const Expr &e) override {
            if (is_const(e) || e.as<Variable>()) return e;
            if (!p.fragments.is_same_in_row(*p.nest, e)) return IRMutator::mutate(e);
            const std::string value = p.print_expr(e), name = p.fresh("of_row");
            p.stream << p.get_indent() << "const " << p.print_type(e.type()) << " " << p.print_name(name) << " = "
                     << value << ";\n";
            return Variable::make(e.type(), name);
        }

    private:
        WarpPrinter &p;
        Expr visit(const Load *op) override { return p.fragments[op->name] ? Expr(op) : IRMutator::visit(op); }
        // Only the branch that is asked for may be evaluated.
        Expr visit(const Call *op) override {
            return op->is_intrinsic(Call::if_then_else) ? Expr(op) : IRMutator::visit(op);
        }
        using IRMutator::visit;
    };
    return Hoist(*this).mutate(e);
}

// All that is stored for a row is formed before any of it is: a running maximum is read by what it rescales.
void WarpPrinter::print_elementwise() {
    std::vector<const WarpStore *> of_rows, of_columns;
    for (const WarpStore &store : nest->stores) {
        const Fragment *f = fragments[store.array];
        (f && f->kind == Fragment::Kind::row ? of_rows : of_columns).push_back(&store);
    }
    open_rows();
    std::vector<std::string> next;
    for (const WarpStore *store : of_rows) {
        const std::string value = print_expr(store->value), name = print_name(fresh("next"));
        stream << get_indent() << "const " << print_type(store->value.type()) << " " << name << " = " << value << ";\n";
        next.push_back(name);
    }
    if (!of_columns.empty()) print_stores_along_rows(of_columns);
    for (size_t i = 0; i < next.size(); i++)
        stream << get_indent() << register_of(of_rows[i]->array, of_rows[i]->index) << " = " << next[i] << ";\n";
    close();
}

void WarpPrinter::print_stores_along_rows(const std::vector<const WarpStore *> &stores) {
    std::vector<Expr> values;
    for (const WarpStore *store : stores) values.push_back(print_row_terms(store->value));
    if (nest->column.empty()) { // a number a row, in memory that all threads see
        open("if (GYRE_LANE % 4 == 0)");
        for (size_t i = 0; i < stores.size(); i++)
            print_stmt(Store::make(stores[i]->array, values[i], stores[i]->index, Parameter(), const_true(), {}));
        return close();
    }
    open_loops(nest->others);
    std::vector<std::string> packed;
    for (const WarpStore *store : stores) {
        const Fragment *f = fragments[store->array];
        packed.push_back(f && f->is_packed() ? print_name(fresh("both")) : "");
        if (!packed.back().empty()) {
            const Cast *narrowed = store->value.as<Cast>();
            const Type type = narrowed ? narrowed->value.type() : store->value.type();
            stream << get_indent() << print_type(type) << " " << packed.back() << "[2];\n";
        }
    }
    stream << get_indent() << "#pragma unroll\n";
    open("for (int pair = 0; pair < 2; pair++)");
    stream << get_indent() << "const int " << print_name(nest->column) << " = GYRE_LANE % 4 * 2 + pair;\n";
    std::vector<std::string> printed;
    for (size_t i = 0; i < stores.size(); i++) {
        if (!fragments[stores[i]->array]) continue; // printed with the store
        const Cast *narrowed = packed[i].empty() ? nullptr : values[i].as<Cast>();
        printed.push_back(print_expr(narrowed ? narrowed->value : values[i]));
    }
    for (size_t i = 0; i < stores.size(); i++) {
        const WarpStore &store = *stores[i];
        if (fragments[store.array]) {
            const std::string to = packed[i].empty() ? register_of(store.array, store.index) : packed[i] + "[pair]";
            stream << get_indent() << to << " = " << printed[i] << ";\n";
        } else {
            nest->require(stores.size() == 1, "stores into memory and elsewhere");
            print_stmt(Store::make(store.array, values[i], store.index, Parameter(), const_true(), {}));
        }
    }
    close();
    for (size_t i = 0; i < stores.size(); i++)
        if (!packed[i].empty())
            stream << get_indent() << register_of(stores[i]->array, stores[i]->index) << " = gyre_pack<"
                   << print_type(fragments[stores[i]->array]->type) << ">(" << packed[i] << "[0], " << packed[i]
                   << "[1]);\n";
    close(nest->others.size());
}

// Each lane reduces its columns, and the four lanes of a row what they found.
void WarpPrinter::print_reduction(const WarpStore &store) {
    const Max *greater = store.value.as<Max>();
    const Add *sum = store.value.as<Add>();
    nest->require(nest->stores.size() == 1 && (greater || sum), "reduces rows by something else than max or +");
    Expr old = greater ? greater->a : sum->a, each = greater ? greater->b : sum->b;
    if (!reads(old, store.array, store.index)) std::swap(old, each);
    nest->require(reads(old, store.array, store.index), "does not reduce what it stores");
    const std::string name = greater ? "gyre_max" : "gyre_add", type = print_type(store.value.type());
    const std::string part = print_name(fresh("part"));
    open_rows();
    stream << get_indent() << type << " " << part << " = " << (greater ? "GYRE_LEAST" : "0") << ";\n";
    open_loops(nest->others);
    stream << get_indent() << "#pragma unroll\n";
    open("for (int pair = 0; pair < 2; pair++)");
    stream << get_indent() << "const int " << print_name(nest->column) << " = GYRE_LANE % 4 * 2 + pair;\n";
    const std::string value = print_expr(each);
    stream << get_indent() << part << " = " << name << "(" << part << ", " << value << ");\n";
    close(nest->others.size() + 1);
    const std::string to = register_of(store.array, store.index);
    stream << get_indent() << to << " = " << name << "(" << to << ", "
           << (greater ? "gyre_quad_max(" : "gyre_quad_sum(") << part << "));\n";
    close();
}

} // namespace gyre::cuda
