// The sizes and knobs that matrix tiles take.
#include "passes/instructions/tile_products.h"
#include "tiles.h"

namespace gyre::attention {

void Tiles::check() const {
    const Sizes &z = s.sizes;
    const auto check_multiple = [](const char *name, int value, int divisor) {
        _halide_user_assert(value % divisor == 0)
            << name << " is " << value << ", expected a multiple of " << divisor << ", for matrix tiles\n";
    };
    check_multiple("lanes", k.lanes, tile_columns);
    check_multiple("head_dim", z.head_dim, tile_depth);
    check_multiple("key_block", z.key_block, tile_depth);
    check_multiple("key_unroll", k.key_unroll, tile_rows);
    check_multiple("key_block", z.key_block, k.key_unroll);
    const auto check_above = [&](const char *name, int value) { // loops over a block's keys have several turns
        _halide_user_assert(z.key_block > value) << "key_block is " << z.key_block << ", expected more than " << name
                                                 << ", " << value << ", for matrix tiles\n";
    };
    check_above("key_unroll", k.key_unroll);
    check_above("the depth of a tile", tile_depth);
    check_multiple("feature_chunk", z.feature_chunk, tile_rows);
    check_multiple("head_dim", z.v_head_dim, z.feature_chunk);
    _halide_user_assert(k.fold == 0) << "fold is " << k.fold << ", expected 0 for matrix tiles\n";
    _halide_user_assert(k.key_vector == 1) << "key_vector is " << k.key_vector << ", expected 1 for matrix tiles\n";
    _halide_user_assert(k.lanes == tile_columns) << "lanes is " << k.lanes << ", expected " << tile_columns << "\n";
}

} // namespace gyre::attention
