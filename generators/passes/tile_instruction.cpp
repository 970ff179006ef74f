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

} // namespace gyre
