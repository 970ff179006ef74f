/// passes/order/held_tiles.h and sums of columns (passes/instructions/tile_products.h): which tiles a loop over steps loads, and which it holds.
#include "pass_generator.h"
#include "passes/instructions/tile_products.h"
#include "passes/order/held_tiles.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::test;

namespace {

/// Sums over steps of products of a panel, the same in every step, and of `right`; without a panel sums of the columns of `right`.
struct Products {
    bool with_panel;
    int most; // tiles that the loop over steps holds

    std::string lowered() const {
        ImageParam left(UInt(16), 2, "left"), right(UInt(32), 2, "right");
        right.dim(0).set_bounds(0, gyre::tile_columns);
        right.dim(1).set_stride(gyre::tile_columns);
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            constexpr int depth = gyre::tile_depth, rows = gyre::tile_rows, columns = gyre::tile_columns;
            Var n("n"), r("r"), c("c"), x("x"), block("block"), within("within");
            Func panel("panel"), sums("sums"), stored("stored");
            panel(c, r, block) = left(c, r + rows * block);
            RDom k(0, depth, 0, right.dim(1).extent() / (depth / 2), "k");
            const auto number = [](const Expr &bits) { return reinterpret<float>(bits); };
            const Expr pair = right(n, k.y * (depth / 2) + k.x / 2);
            const Expr factor = number(select(k.x % 2 == 0, pair << 16, pair & Expr(0xffff0000u)));
            sums(n, r, block) = 0.0f;
            if (with_panel)
                sums(n, r, block) += number(cast<uint32_t>(panel(k.x, r, block)) << 16) * factor;
            else
                sums(n, r, block) += factor;
            stored(n, r, block) = sums(n, r, block);
            out(x) = stored(x % columns, x / columns % rows, x / (columns * rows));
            out.split(x, block, within, columns * rows, TailStrategy::RoundUp);
            panel.compute_at(out, block).bound(c, 0, depth).bound(r, 0, rows).bound_extent(block, 1);
            Var row(gyre::tile_row_loop), column(gyre::tile_column_loop);
            const RVar inner(gyre::tile_depth_loop);
            for (Func f : {sums, stored}) {
                f.compute_at(out, block).bound(n, 0, columns).bound(r, 0, rows).bound_extent(f.args()[2], 1);
                f.rename(r, row).rename(n, column).reorder(column, row);
            }
            sums.update().rename(r, row).rename(n, column).rename(k.x, inner).reorder(inner, column, row, k.y);
            gyre::map_tile_products(generator);
            if (with_panel) gyre::hold_tiles(generator, sums, "k", most);
        });
        return made.lowered();
    }
};

} // namespace

TEST_CASE("a loop loads tiles that are the same in every turn before it, as many as it may hold") {
    for (const int most : {0, 1, 2}) {
        const std::string lowered = Products{true, most}.lowered();
        CAPTURE(lowered);
        CHECK(count(lowered, "tile_load") == 2);
        const size_t loop = lowered.find(".s1.k$y, ");
        REQUIRE(loop != std::string::npos);
        CHECK(count(lowered.substr(0, loop), "tile_load") == (most > 0 ? 1 : 0));
    }
}

TEST_CASE("a product with ones alone is a sum of columns in a vector, and no tile") {
    const std::string lowered = Products{false, 0}.lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, "tile_") == 0);
    CHECK(count(lowered, "dot_product") == gyre::tile_depth / 2);
}
