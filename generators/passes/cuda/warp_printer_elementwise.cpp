// What a warp does with a tile elementwise.
#include "warp_printer.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

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
    close_rows();
}

void WarpPrinter::print_rescaled(const WarpNest &read, const Call &value) {
    nest->require(read.stores.size() == 1, "rescales more than one array");
    const std::string moved = print_name(fresh("moved"));
    stream << get_indent() << "bool " << moved << " = false;\n";
    open_rows();
    const std::string factor = print_expr(value.args[1]);
    stream << get_indent() << moved << " = " << moved << " || " << factor << " != 1.0f;\n";
    close_rows();
    const auto print = [&](const std::string &head, const Expr &stored) {
        WarpNest copy = read;
        copy.stores.front().value = stored;
        nest = &copy;
        open(head);
        print_elementwise();
        close();
        nest = &read;
    };
    print("if (gyre_any_lane(" + moved + "))", value.args[0] * value.args[1]);
    print("else", value.args[0]);
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

} // namespace gyre::cuda
