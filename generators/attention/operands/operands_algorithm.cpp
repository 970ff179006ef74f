#include "operands_algorithm.h"

#include "../../common/stored_rows.h"
#include "../../math/norms.h"
#include "../../passes/instructions/tile_products.h"

namespace gyre::operands {
using namespace Halide;

Stages algorithm(const Inputs &in, int head_dim, int lanes, const Func &k_rows, const Func &v_blocks,
                 const Func &key_squares, const Func &marks, const Expr &blocks) {
    Stages s;
    s.k_rows = k_rows;
    s.v_blocks = v_blocks;
    s.key_squares = key_squares;
    s.marks = marks;
    const Var &d = s.d, &j = s.j, &g = s.g, &c = s.c, &l = s.l;
    const auto key_of = [&](const Expr &slot) { return min(slot, in.keys - 1); };
    const auto element = [&](const KeyRows &rows, const Expr &key) {
        const Expr offset = unsafe_promise_clamped(offset_of_key(in.pages, rows, key), 0, rows.size - 1);
        return [&rows, offset](const Expr &feature) { return rows.elements(feature, offset); };
    };
    const RowForm bits{head_dim, false, true};

    s.k_rotated = define_rows(s.k_rows, {element(in.k, key_of(j)), head_dim, key_of(j), in.k_rotation}, {d, j}, bits);
    const Expr key = key_of(g * tile_depth + j);
    s.v_rows = Func("v_rows");
    s.v_rotated = define_rows(s.v_rows, {element(in.v, key), head_dim, key, in.v_rotation}, {d, j, g}, bits);
    Func pairs("v_pairs");
    pairs(d, c, g) = cast<uint32_t>(s.v_rows(d, 2 * c, g)) | (cast<uint32_t>(s.v_rows(d, 2 * c + 1, g)) << 16);
    s.v_lanes = transpose(pairs, lanes, "v_lanes");
    s.v_blocks(c, d, g) = s.v_lanes.out(c, d, g);

    RDom keys(0, tile_depth, "keys");
    s.key = keys;
    s.key_squares(l, g) = Expr(0u);
    s.key_squares(l, g) = max(s.key_squares(l, g),
                              ordered_bits(sum_of_squares(element(in.k, key_of(g * tile_depth + keys)), l, head_dim)));

    // Exponents of all ones, and one more, are the highest bit of their number.
    RDom all(0, tile_depth / 2 / lanes, 0, head_dim, 0, blocks, "all_pairs");
    const Expr pair = s.v_blocks(all.x * lanes + l, all.y, all.z);
    s.marks(l) = Expr(0u);
    s.marks(l) = s.marks(l) | ((pair & Expr(0x7f807f80u)) + Expr(0x00800080u));
    s.marked_pair = all.x;
    s.marked_feature = all.y;
    s.marked_block = all.z;
    return s;
}

} // namespace gyre::operands
