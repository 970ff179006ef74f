// What a warp does with a product of tiles of 16 bits, by tensor cores.
#include "warp_printer.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

// Prints the product of one tile of the depth by tensor cores: what is loaded of b is multiplied by all tiles of rows.
void WarpPrinter::print_tensor_product(const Load *a, const Load *b, const WarpStore &store, const WarpLoop &tiles) {
    const WarpNest &n = *nest;
    const std::string words = print_tiles_of_a(a), v = print_name(tiles.name);
    stream << get_indent() << "#pragma unroll\n";
    open("for (int " + v + " = 0; " + v + " < " + std::to_string(tiles.extent) + "; " + v + " += 2)");
    const std::string of_b = print_tiles_of_b(b);
    open_row_tiles();
    const std::string tile = print_expr(fragments.tile(n, store.array, store.index, n.column));
    const std::string of_rows = n.row_tiles.name.empty() ? words : words + "[" + print_name(n.row_tiles.name) + "]";
    for (const int next : {0, 1})
        stream << get_indent() << "gyre_mma<" << print_type(b->type) << ">(" << print_name(store.array) << " + ("
               << tile << " + " << next << ") * 4, " << of_rows << ", " << of_b << " + " << 2 * next << ");\n";
    cache.clear();
    close_row_tiles();
    close();
}

// Prints where a warp's part of the left operand is, four words of each tile of rows: in a fragment, or loaded from shared memory.
std::string WarpPrinter::print_tiles_of_a(const Load *a) {
    const WarpNest &n = *nest;
    const std::string words = print_name(fresh("a")), memory = print_name(a->name), type = print_type(a->type);
    const bool several = !n.row_tiles.name.empty(), loads = shared.count(a->name);
    const std::string count = several ? "[" + std::to_string(n.row_tiles.extent) + "]" : "";
    if (loads) {
        const auto along_rows = step_of(a->index, n.row);
        n.require(along_rows && step_of(a->index, n.depth) == 1,
                  "has a left factor in shared memory without dense rows");
        stream << get_indent() << "uint32_t " << words << count << "[4];\n";
        open_row_tiles();
        const std::string first = print_expr(at_origin(a->index, {n.depth, n.row}));
        stream << get_indent() << "gyre_load_tiles<" << type << ">(" << words
               << (several ? "[" + print_name(n.row_tiles.name) + "]" : "") << ", " << memory << ", " << first
               << " + (GYRE_LANE % 16) * " << *along_rows << " + GYRE_LANE / 16 * 8);\n";
        cache.clear();
        close_row_tiles();
    } else if (several) {
        stream << get_indent() << "const uint32_t *" << words << count << ";\n";
        open_row_tiles();
        const std::string tile = print_expr(fragments.tile(n, a->name, a->index, n.depth));
        stream << get_indent() << words << "[" << print_name(n.row_tiles.name) << "] = " << memory << " + " << tile
               << " * 2;\n";
        cache.clear();
        close_row_tiles();
    } else {
        const std::string tile = print_expr(fragments.tile(n, a->name, a->index, n.depth));
        stream << get_indent() << "const uint32_t *const " << words << " = " << memory << " + " << tile << " * 2;\n";
    }
    return words;
}

// Prints the loads of two neighbouring tiles of the right operand: two words of each.
std::string WarpPrinter::print_tiles_of_b(const Load *b) {
    const WarpNest &n = *nest;
    const auto along_depth = step_of(b->index, n.depth), along_columns = step_of(b->index, n.column);
    n.require(along_depth && along_columns && (along_depth == 1 || along_columns == 1),
              "has a factor in shared memory without dense rows");
    // Which row of 8 elements this lane points at. ldmatrix gives each lane pairs along a row: rows are to be columns of the
    // product, or they are transposed on the way.
    const bool transposed = along_depth != 1;
    const std::string column_of_lane = transposed ? "GYRE_LANE / 16 * 8" : "GYRE_LANE % 8 + GYRE_LANE / 16 * 8";
    const std::string depth_of_lane = transposed ? "GYRE_LANE % 16" : "GYRE_LANE / 8 % 2 * 8";
    const std::string first = print_expr(at_origin(b->index, {n.depth, n.column}));
    const std::string words = print_name(fresh("b")), type = print_type(b->type), memory = print_name(b->name);
    stream << get_indent() << "uint32_t " << words << "[4];\n"
           << get_indent() << "gyre_load_tiles" << (transposed ? "_transposed<" : "<") << type << ">(" << words << ", "
           << memory << ", " << first << " + (" << column_of_lane << ") * " << *along_columns << " + (" << depth_of_lane
           << ") * " << *along_depth << ");\n";
    cache.clear();
    return words;
}

} // namespace gyre::cuda
