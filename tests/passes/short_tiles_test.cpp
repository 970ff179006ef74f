/// passes/order/short_tiles.h: of a last row tile that is short, vectors with a row alone are computed, and rows that are there formed.
#include "pass_generator.h"
#include "passes/order/short_tiles.h"

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
                                  {state, "tile", rows, all, vectors, lanes, 1, {{state.name(), "vector"}}, {"r"}});
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
                gyre::end_short_tiles(
                    generator, {state, "tile", rows, tile_rows, vectors, lanes, 1, {{state.name(), "vector"}}, {}});
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

TEST_CASE(
    "a short tile takes turns that form a register tile together, as many as its sums need, and what remains alone") {
    constexpr int vectors = 3, lanes = 4, all = vectors * lanes, terms = 5, most_chunks = 7;
    for (const int chunks : {-2, 0, 1, 2, 3, 6, 7})
        for (const int count : {3, 8, 12, 13}) {
            CAPTURE(chunks);
            CAPTURE(count);
            Var x("x"), r("r"), t("t"), tile("tile"), vector("vector"), lane("lane"), e("e");
            Param<int> rows("rows", count), turns("turns", chunks);
            Func product("product"), state("state");
            const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
                RDom term(0, terms, "term"), chunk(0, most_chunks, "chunk");
                chunk.where(chunk < turns);
                product(r, e, t) += cast<float>((r + 1) * (term + e) + rows) + 100.0f * cast<float>(t);
                state(r, e, t) = -1.0f;
                state(r, chunk, t) = product(r, chunk, t);
                out(x) = state(x % all, x / all % most_chunks, x / all / most_chunks);
                Stage update = state.compute_root().bound(r, 0, all).bound(e, 0, most_chunks).update();
                update.rename(t, tile).split(r, vector, lane, lanes).reorder(lane, vector, chunk, tile).vectorize(lane);
                product.compute_at(state, chunk).vectorize(r, lanes);
                product.update().reorder(r, term).vectorize(r, lanes);
                gyre::end_short_tiles(generator, {state,
                                                  "tile",
                                                  rows,
                                                  all,
                                                  vectors,
                                                  lanes,
                                                  2,
                                                  {{state.name(), "vector"}, {product.name(), "r"}},
                                                  {}});
            });
            const int tiles = (count + all - 1) / all;
            const Buffer<float> result = made.run(tiles * all * most_chunks);
            for (int i = 0; i < tiles * all * most_chunks; i++) {
                const int row = i % all, of_chunk = i / all % most_chunks, of_tile = i / all / most_chunks;
                if (of_tile * all + row >= count) continue;
                float sum = 0;
                for (int term = 0; term < terms; term++)
                    sum += (float)((row + 1) * (term + of_chunk) + count) + 100.0f * (float)of_tile;
                CHECK(result(i) == (of_chunk < chunks ? sum : -1));
            }
            // One vector takes two turns together, each with a tile of its own and one loop over terms for both.
            const std::string lowered = made.lowered();
            CHECK(gyre::test::count(lowered, "allocate " + product.name() + ".turn1[") == 1);
            CHECK(gyre::test::count(lowered, ".term$x, 0, 5") == 4);
        }
}
