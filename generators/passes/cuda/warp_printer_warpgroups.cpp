// What the four warps of a warpgroup do together with a product of tiles of 16 bits.
#include "swizzle.h"
#include "warp_printer.h"

#include <algorithm>

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

constexpr int most_columns = 128; // of one product

int columns_of(const WarpLoop &tiles) { return std::min(tiles.extent * tile_columns, most_columns); }

} // namespace

/// Where an operand begins: the address of its first element.
std::string WarpPrinter::place_of_operand(const Load *b, const SwizzledOperand &operand) {
    const std::string first = print_expr(operand.first);
    return "((const " + print_type(b->type) + " *)" + print_name(b->name) + " + " + first + ")";
}

// All products of a nest are one group, which is waited for at once. Each turn along the depth is printed, with
// where its operands are.
void WarpPrinter::print_warpgroup_product(const Load *a, const Load *b, const WarpStore &store,
                                          const std::vector<WarpLoop> &of_depth, const WarpLoop &tiles) {
    const WarpNest &n = *nest;
    const int columns = columns_of(tiles), groups = tiles.extent * tile_columns / columns;
    n.require(n.row_tiles.name.empty() && of_depth.size() == 1, "is no product of a warpgroup's 64 rows");
    n.require(columns % panel_columns == 0 && groups * columns == tiles.extent * tile_columns,
              "has columns that are not whole panels of a warpgroup's product");
    const std::string sums = print_name(store.array), type = print_type(b->type);
    const std::string all = std::to_string(fragments[store.array]->registers());
    stream << get_indent() << "gyre_warpgroup_hold<" << all << ">(" << sums << ");\n"
           << get_indent() << "gyre_warpgroup_fence();\n";
    const std::string begin = print_name(fresh("operand")), rows = print_name(fresh("rows"));
    const bool from_shared = shared.count(a->name);
    Expr first, first_row;
    const auto distance = [&](const Expr &from, const Expr &to) {
        const auto numbers = as_const_int(simplify(to - from));
        n.require(numbers.has_value(), "has an operand whose parts are not at constant distances");
        return std::to_string(*numbers * b->type.bytes());
    };
    for (int depth = 0; depth < of_depth[0].extent; depth++) {
        std::string left;
        if (from_shared) {
            const SwizzledOperand operand = read_swizzled_rows(n, a->index, of_depth[0].name, depth);
            if (!first_row.defined()) {
                first_row = operand.first;
                const std::string place = place_of_operand(a, operand);
                stream << get_indent() << "const uint64_t " << rows << " = gyre_operand(" << place
                       << " + gyre_warpgroup() * " << rows_of_group * panel_columns << ", "
                       << swizzled_at_once * b->type.bytes() << ");\n";
            }
            left = "gyre_operand_at<" + distance(first_row, operand.first) + ">(" + rows + ")";
        } else {
            const Expr tile = fragments.tile(n, a->name, a->index, n.depth);
            left =
                print_name(a->name) + " + " + print_expr(simplify(substitute(of_depth[0].name, depth, tile))) + " * 2";
        }
        for (int group = 0; group < groups; group++) {
            const int tile = group * columns / tile_columns;
            const SwizzledOperand operand =
                read_swizzled_operand(n, b->index, tiles, tile, columns, of_depth[0].name, depth);
            if (!first.defined()) {
                first = operand.first;
                const std::string place = place_of_operand(b, operand);
                stream << get_indent() << "const uint64_t " << begin << " = gyre_operand(" << place << ", "
                       << std::max(operand.panel, swizzled_at_once) * b->type.bytes() << ");\n";
            }
            const Expr into = substitute(tiles.name, tile, fragments.tile(n, store.array, store.index, n.column));
            const std::string sum = print_expr(simplify(into));
            stream << get_indent() << "gyre_warpgroup_multiply<" << type << ", " << columns << ", "
                   << (operand.transposed ? "true" : "false") << ">(" << sums << " + " << sum << " * 4, " << left
                   << ", gyre_operand_at<" << distance(first, operand.first) << ">(" << begin << "));\n";
        }
    }
    stream << get_indent() << "gyre_warpgroup_commit();\n"
           << get_indent() << "gyre_warpgroup_wait<0>();\n"
           << get_indent() << "gyre_warpgroup_hold<" << all << ">(" << sums << ");\n";
    cache.clear();
}

/// The right operand of product_of_seen, by which the guard reads it (gyre_swizzle.h): its arguments `values` and `first`.
std::string WarpPrinter::print_swizzled_values(const Load *b, const WarpLoop &tiles, const std::string &depth_loop,
                                               int rows) {
    const int columns = tiles.extent * tile_columns;
    const SwizzledOperand operand = read_swizzled_operand(*nest, b->index, tiles, 0, columns, depth_loop, 0);
    nest->require(operand.transposed, "has values in shared memory that are not rows of a warpgroup's product");
    const int of_panel = operand.panel ? operand.panel / panel_columns : rows;
    const std::string place = place_of_operand(b, operand);
    return "(const gyre_swizzled_rows<" + std::to_string(columns) + ", " + std::to_string(of_panel) + "> *)" + place +
           ", 0";
}

} // namespace gyre::cuda
