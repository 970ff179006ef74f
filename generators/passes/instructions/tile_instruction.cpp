#include "tile_instruction.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;

Stmt tile_instruction(const TileNest &nest, const std::string &tile) {
    constexpr int row_bytes = 64;
    const Type type = Float(32, tile_elements);
    const Expr whole = Ramp::make(0, 1, tile_elements), all = const_true(tile_elements);
    const Expr held = Load::make(type, tile, whole, {}, {}, all, {});
    const auto set = [&](const Expr &value) {
        return Store::make(tile, value, whole, Parameter(), all, ModulusRemainder());
    };
    const auto operand = [](const TileInMemory &m) {
        return Call::make(BFloat(16, tile_rows * tile_depth), "tile_load",
                          {tile_rows, row_bytes, Variable::make(Handle(), m.buffer), m.first, m.row_stride},
                          Call::Intrinsic);
    };
    switch (nest.kind) {
    case TileNest::Kind::zero:
        return set(
            Call::make(type, "tile_zero", {cast<int16_t>(tile_rows), cast<int16_t>(row_bytes)}, Call::Intrinsic));
    case TileNest::Kind::multiply_add:
        return set(Call::make(type, "tile_matmul",
                              {tile_rows, row_bytes, row_bytes, held, operand(nest.a), operand(nest.b)},
                              Call::Intrinsic));
    default:
        return Evaluate::make(Call::make(Int(32), "tile_store",
                                         {tile_rows, row_bytes, Variable::make(Handle(), nest.out.buffer),
                                          nest.out.first, nest.out.row_stride, held},
                                         Call::Intrinsic));
    }
}

Stmt column_sums_instruction(const TileNest &nest, const std::string &sums) {
    const Type type = Float(32, tile_columns);
    const Expr all = const_true(tile_columns);
    const auto dense = [](const Expr &first) { return Ramp::make(first, 1, tile_columns); };
    const Expr held = Load::make(type, sums, dense(0), {}, {}, all, {});
    const auto set = [&](const Expr &value) {
        return Store::make(sums, value, dense(0), Parameter(), all, ModulusRemainder());
    };
    std::vector<Stmt> statements;
    switch (nest.kind) {
    case TileNest::Kind::zero:
        return set(make_zero(type));
    case TileNest::Kind::multiply_add:
        for (int pair = 0; pair < tile_depth / 2; pair++) {
            constexpr int pair_bytes = 4;
            const Expr first = simplify((nest.b.first + pair * nest.b.row_stride) / pair_bytes);
            const Expr pairs = Load::make(UInt(32, tile_columns), nest.b.buffer, dense(first), {}, {}, all, {});
            const Type numbers = BFloat(16, 2 * tile_columns);
            const Expr ones = make_one(numbers);
            // Halide's name for vdpbf16ps, which it finds by these types.
            statements.push_back(
                set(Call::make(type, "dot_product", {held, reinterpret(numbers, pairs), ones}, Call::PureExtern)));
        }
        return Block::make(statements);
    default:
        for (int row = 0; row < tile_rows; row++) {
            constexpr int element_bytes = 4;
            const Expr first = simplify((nest.out.first + row * nest.out.row_stride) / element_bytes);
            statements.push_back(Store::make(nest.out.buffer, held, dense(first), Parameter(), all, {}));
        }
        return Block::make(statements);
    }
}

} // namespace gyre
