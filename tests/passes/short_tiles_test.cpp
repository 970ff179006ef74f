/// passes/short_tiles.h: of a last row tile that is short, vectors with a row alone are computed, and rows that are there formed.
#include "pass_generator.h"
#include "passes/short_tiles.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::test;

TEST_CASE("a short tile has copies of its loops for each number of vectors, and other loops end with its rows") {
    constexpr int vectors = 3, lanes = 4, all = vectors * lanes;
    constexpr float untouched = -1;
    for (const int count : {1, 4, 5, 12, 13, 17, 21, 24}) {
        CAPTURE(count);
        Var x("x"), r("r"), t("t"), tile("tile"), vector("vector"), lane("lane");
        Param<int> rows("rows", count);
        Func in_vectors("in_vectors"), in_rows("in_rows"), state("state");
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            in_vectors(r, t) = cast<float>(r);
            in_rows(r, t) = cast<float>(2 * r + rows);
            state(r, t) = untouched;
            state(r, t) += in_vectors(r, t) + in_rows(r, t) + 100.0f * cast<float>(t);
            out(x) = state(x % all, x / all);
            Stage update = state.compute_root().bound(r, 0, all).update();
            update.rename(t, tile).split(r, vector, lane, lanes).reorder(lane, vector, tile).vectorize(lane);
            in_vectors.compute_at(state, tile).vectorize(r, lanes);
            in_rows.compute_at(state, tile);
            gyre::end_short_tiles(generator,
                                  {state, "tile", rows, all, vectors, lanes, {{state.name(), "vector"}}, {"r"}});
        });
        const int tiles = (count + all - 1) / all;
        const Buffer<float> result = made.run(tiles * all);
        for (int i = 0; i < tiles * all; i++) {
            const int row = i % all;
            if (i < count) CHECK(result(i) == untouched + (float)(3 * row + 100 * (i / all) + count));
            if (i >= (count + lanes - 1) / lanes * lanes) CHECK(result(i) == untouched);
        }
        const std::string lowered = made.lowered();
        CHECK(gyre::test::count(lowered, ".vectors == 1)") == 1);
        CHECK(gyre::test::count(lowered, ".vectors == 2)") == 1);
        CHECK(gyre::test::count(lowered, ".rows) {") == 1); // ends of loops
        CHECK(gyre::test::count(lowered, ".vectors) {") == 1);
    }
}

TEST_CASE("tiles may have fewer vectors than they have room for") {
    constexpr int vectors = 3, lanes = 4, all = vectors * lanes;
    constexpr float untouched = -1;
    for (const int of_tile : {lanes, 2 * lanes, all})
        for (const int count : {1, 4, 5, 8, 9, 12, 13, 24, 33}) {
            CAPTURE(of_tile);
            CAPTURE(count);
            Var x("x"), r("r"), t("t"), tile("tile"), vector("vector"), lane("lane");
            Param<int> rows("rows", count), tile_rows("tile_rows", of_tile);
            Func state("state");
            const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
                state(r, t) = untouched;
                state(r, t) += 1.0f + cast<float>(t * tile_rows + r + rows);
                out(x) = state(x % all, x / all);
                Stage update = state.compute_root().bound(r, 0, all).update();
                update.rename(t, tile).split(r, vector, lane, lanes).reorder(lane, vector, tile).vectorize(lane);
                gyre::end_short_tiles(generator,
                                      {state, "tile", rows, tile_rows, vectors, lanes, {{state.name(), "vector"}}, {}});
            });
            const int tiles = (count + of_tile - 1) / of_tile;
            const Buffer<float> result = made.run(tiles * all);
            for (int i = 0; i < tiles * all; i++) {
                const int row = i / all * of_tile + i % all;
                if (i % all < of_tile && row < count) CHECK(result(i) == (float)(row + count));
                if (i % all >= of_tile) CHECK(result(i) == untouched);
            }
        }
}
