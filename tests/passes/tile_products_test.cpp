/// passes/instructions/tile_products.h: a block of 2 x 2 tiles loads each operand once a step, whatever Halide has named around its products.
#include "pass_generator.h"
#include "passes/instructions/tile_products.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::test;

namespace {

constexpr int side = 2 * gyre::tile_rows;

/// The f32 number of these bits, whose upper half is a bf16 number.
Expr number(const Expr &bits) { return reinterpret<float>(bits); }

/// Sums of products of panels of `depth` numbers a step, in blocks of 2 x 2 tiles.
PassGenerator blocks_of_tiles(ImageParam &left, ImageParam &right, int depth) {
    return PassGenerator([&, depth](Internal::GeneratorBase &generator, Func out) {
        Var n("n"), r("r"), c("c"), step("step"), x("x"), block("block"), within("within");
        Func panel("panel"), sums("sums"), stored("stored");
        panel(c, r, step, block) = left(c, r + side * (step + block));
        RDom k(0, depth, 0, right.dim(1).extent() / (depth / 2), "k");
        sums(n, r, block) = 0.0f;
        const Expr pair = right(n, k.y * (depth / 2) + k.x / 2);
        sums(n, r, block) += number(cast<uint32_t>(panel(k.x, r, k.y, block)) << 16) *
                             number(select(k.x % 2 == 0, pair << 16, pair & Expr(0xffff0000u)));
        stored(n, r, block) = sums(n, r, block);
        out(x) = stored(x % side, x / side % side, x / (side * side));
        out.split(x, block, within, side * side, TailStrategy::RoundUp);
        panel.compute_root().bound(c, 0, depth).bound(r, 0, side);
        Var row(gyre::tile_row_loop), column(gyre::tile_column_loop), down("down"), across("across");
        const RVar inner(gyre::tile_depth_loop);
        const auto tiles = [&](Stage stage) {
            return stage.split(r, down, row, gyre::tile_rows)
                .split(n, across, column, gyre::tile_columns)
                .reorder(column, row, across, down)
                .unroll(across)
                .unroll(down);
        };
        for (Func f : {sums, stored}) {
            f.compute_at(out, block).bound(n, 0, side).bound(r, 0, side).bound_extent(f.args()[2], 1);
            tiles(f);
        }
        tiles(sums.update()).rename(k.x, inner).reorder(inner, column, row, across, down, k.y);
        gyre::map_tile_products(generator);
    });
}

} // namespace

TEST_CASE("tiles that neighbours multiply by are loaded once") {
    ImageParam left(UInt(16), 2, "left"), right(UInt(32), 2, "right");
    right.dim(0).set_bounds(0, side);
    right.dim(1).set_stride(side);
    const std::string lowered = blocks_of_tiles(left, right, gyre::tile_depth).lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, "tile_zero") == 4);
    CHECK(count(lowered, "tile_matmul") == 4);
    CHECK(count(lowered, "tile_load") == 4);
    CHECK(count(lowered, "tile_store") == 4);
}
