// What a warp does with a product of tiles.
#include "primitives.h"
#include "warp_printer.h"

#include <algorithm>

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// What is widened to f32, or is in f32.
const Load *operand(const Expr &e) {
    const Cast *cast = e.as<Cast>();
    if (cast && cast->type == Float(32)) return cast->value.as<Load>();
    return e.type() == Float(32) ? e.as<Load>() : nullptr;
}

/// True if a fragment can be a left operand: packed pairs for tensor cores, or f32 for multiply-adds.
bool is_factor(const Fragment *f) {
    return f && (f->is_packed() || (f->kind == Fragment::Kind::matrix && f->type == Float(32)));
}

} // namespace

// c += a b: a from a fragment, whose columns are the depth; b from shared memory, for tensor cores two tiles by one instruction.
void WarpPrinter::print_product(const WarpStore &store) {
    const WarpNest &n = *nest;
    const Add *sum = store.value.as<Add>();
    if (sum)
        for (const auto &[each, other] : {std::pair(sum->a, sum->b), std::pair(sum->b, sum->a)})
            if (const Call *call = each.as<Call>(); call && call->name == seen_product)
                return print_product_of_seen(store, *call, other);
    const Expr added = added_to(store.array, store.index, store.value);
    const Mul *product = added.defined() ? added.as<Mul>() : nullptr;
    n.require(n.stores.size() == 1 && product, "does not add a product to what it stores");
    const Load *a = operand(product->a), *b = operand(product->b);
    n.require(a && b && a->type == b->type && (a->type.bits() == 16 || a->type == Float(32)),
              "has factors that are not both of 16 bits, or in f32");
    if (expr_uses_var(b->index, n.row)) std::swap(a, b);
    const Fragment *left = fragments[a->name], *into = fragments[store.array];
    const bool from_shared = shared.count(a->name) && a->type.bits() == 16;
    n.require((is_factor(left) || from_shared) && shared.count(b->name),
              "has factors elsewhere than in a fragment, or of 16 bits in shared memory, and in shared memory");
    n.require(into && into->kind == Fragment::Kind::matrix && into->type == Float(32), "adds to no fragment in f32");
    std::vector<WarpLoop> of_depth, of_columns;
    for (const WarpLoop &loop : n.others) (expr_uses_var(a->index, loop.name) ? of_depth : of_columns).push_back(loop);
    for (const WarpLoop &loop : of_depth)
        n.require(!expr_uses_var(store.index, loop.name), "has a loop along rows, " + loop.name);
    n.require(of_columns.size() == 1 && of_columns[0].extent % 2 == 0, "has no even number of tiles along " + n.column);

    const WarpLoop &tiles = of_columns[0];
    if (by_warpgroups && (from_shared || (left && left->is_packed())))
        return print_warpgroup_product(a, b, store, of_depth, tiles);
    n.require(step_of(b->index, tiles.name) == tile_columns * step_of(b->index, n.column).value_or(0) &&
                  step_of(store.index, tiles.name) == tile_columns,
              "has neighbouring tiles that do not lie side by side");
    open_loops(of_depth);
    if (from_shared || left->is_packed()) {
        print_tensor_product(a, b, store, tiles);
    } else {
        open_row_tiles();
        print_multiply_adds(a, b, store, tiles);
        close_row_tiles();
    }
    close(of_depth.size());
}

// Prints the product where some values count in some rows only. A function tells which, for a lane's elements in the layout of its
// weights.
void WarpPrinter::print_product_of_seen(const WarpStore &store, const Call &product, const Expr &before) {
    const WarpNest &n = *nest;
    const Load *a = operand(product.args[0]), *b = operand(product.args[1]);
    const Fragment *left = a ? fragments[a->name] : nullptr, *into = fragments[store.array];
    n.require(n.stores.size() == 1 && reads(before, store.array, store.index),
              "does not add a product to what it stores");
    n.require(is_factor(left) && b && b->type == a->type && shared.count(b->name),
              "has factors elsewhere than in a fragment and in shared memory");
    n.require(into && into->kind == Fragment::Kind::matrix && into->type == Float(32), "adds to no fragment in f32");
    const auto along_depth = by_warpgroups ? into->columns : step_of(b->index, n.depth);
    n.require(along_depth && (by_warpgroups || step_of(b->index, n.column) == 1),
              "has rows in shared memory that are not dense");
    std::vector<std::string> loops{n.depth, n.column}, of_depth;
    for (const WarpLoop &loop : n.others) {
        loops.push_back(loop.name);
        if (expr_uses_var(a->index, loop.name)) of_depth.push_back(loop.name);
    }
    n.require(of_depth.size() <= 1, "has several loops over tiles along " + n.depth);
    open_row_tiles();
    const std::string seen = print_name(fresh("seen"));
    open("const auto " + seen + " = [&](int depth, int half, int right, int pair)");
    stream << get_indent() << "const int " << print_name(n.row) << " = GYRE_LANE / 4 + 8 * half, "
           << print_name(n.depth) << " = GYRE_LANE % 4 * 2 + pair;\n";
    if (!of_depth.empty()) stream << get_indent() << "const int " << print_name(of_depth[0]) << " = depth;\n";
    column = n.depth;
    for (const int right : {1, 0}) {
        const Expr k = Variable::make(Int(32), n.depth);
        if (right) open("if (right)");
        const std::string holds = print_expr(substitute(n.depth, k + right * tile_columns, product.args[2]));
        stream << get_indent() << "return " << holds << ";\n";
        if (right) close();
        cache.clear();
    }
    column = n.column;
    indent -= 1;
    stream << get_indent() << "};\n";
    std::string values;
    if (by_warpgroups) {
        const auto tiles = std::find_if(n.others.begin(), n.others.end(),
                                        [&](const WarpLoop &loop) { return !expr_uses_var(a->index, loop.name); });
        n.require(tiles != n.others.end(), "has no loop over tiles along " + n.column);
        values = print_swizzled_values(b, *tiles, of_depth.empty() ? "" : of_depth[0], left->columns);
    } else {
        values = print_name(b->name) + ", " + print_expr(at_origin(b->index, loops));
    }
    const auto of_rows = [&](const std::string &array) {
        const std::string name = print_name(array);
        if (n.row_tiles.name.empty()) return name;
        return name + " + " + print_name(n.row_tiles.name) + " * " +
               std::to_string(fragments[array]->registers_of_tile());
    };
    stream << get_indent() << product.name << "<" << print_type(b->type) << ", " << left->columns / tile_depth << ", "
           << into->columns / tile_columns << ", " << *along_depth << ">(" << of_rows(store.array) << ", "
           << of_rows(a->name) << ", " << seen << ", " << values << ");\n";
    cache.clear();
    close_row_tiles();
}

// Prints the product in f32, all tiles along the columns by one call.
void WarpPrinter::print_multiply_adds(const Load *a, const Load *b, const WarpStore &store, const WarpLoop &tiles) {
    const WarpNest &n = *nest;
    const auto along_depth = step_of(b->index, n.depth), along_columns = step_of(b->index, n.column);
    n.require(along_depth && along_columns && (along_depth == 1 || along_columns == 1),
              "has a factor in shared memory without dense rows");
    const std::string first = print_expr(at_origin(b->index, {n.depth, n.column, tiles.name}));
    const std::string left = print_expr(fragments.tile(n, a->name, a->index, n.depth));
    const Expr into = substitute(tiles.name, 0, fragments.tile(n, store.array, store.index, n.column));
    const std::string sums = print_expr(simplify(into));
    stream << get_indent() << "gyre_product<" << tiles.extent << ", " << *along_depth << ", " << *along_columns << ">("
           << print_name(store.array) << " + " << sums << " * 4, " << print_name(a->name) << " + " << left << " * 4, "
           << print_name(b->name) << ", " << first << ");\n";
    cache.clear();
}

} // namespace gyre::cuda
