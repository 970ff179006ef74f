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
    const Call *value = first.value.as<Call>();
    if (value && value->name == rescaled_value)
        print_rescaled(read, *value);
    else if (!read.depth.empty())
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
        const bool several = !nest->row_tiles.name.empty();
        nest->require(step_of(index, nest->row) == f.columns && f.is_own_warp(index) &&
                          step_of(index, nest->row_tiles.name) == (several ? int64_t{tile_rows} * f.columns : 0),
                      "has " + array + " in rows that are not its own");
        return name + (several ? "[" + print_name(nest->row_tiles.name) + " * 2 + half]" : "[half]");
    }
    const std::string tile = print_expr(fragments.tile(*nest, array, index, column));
    return name + "[" + tile + (f.is_packed() ? " * 2 + half]" : " * 4 + half * 2 + pair]");
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
    close_rows();
}

} // namespace gyre::cuda
