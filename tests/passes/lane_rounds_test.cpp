/// math/lane_rounds.h and passes/instructions/lane_shuffles.h: rounds transpose, in loops of any kind, and are shuffles where vectors are whole.
#include "math/lane_rounds.h"
#include "math/transpose.h"
#include "pass_generator.h"
#include "passes/instructions/lane_shuffles.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::test;

namespace {

constexpr int rows = 3; // of blocks

/// Blocks of `lanes` by `lanes`, the rows of each through all rounds, by the sum of which columns are told: vector by vector, or lane by lane.
PassGenerator rounds_of(int lanes, bool in_vectors) {
    return PassGenerator([=](Internal::GeneratorBase &generator, Func out) {
        Var x{"x"}, lane{"lane"}, vector{"vector"}, column{"column"}, block{"block"};
        Func in{"in"};
        in(lane, vector, block) = cast<float>((block * lanes + vector) * lanes + lane);
        in.compute_root();
        std::vector<Func> rounds;
        for (int pairs = lanes / 2; pairs >= 1; pairs /= 2) {
            const gyre::LaneOfVector before = [&](const Expr &l, const Expr &v) -> Expr {
                return rounds.empty() ? Expr(in(l, v, block)) : Expr(rounds.back()(l, v, column / 2, block));
            };
            Func round("round_" + std::to_string(pairs));
            round(lane, vector, column, block) = gyre::lane_of_round(before, lanes, pairs, lane, vector, column % 2);
            rounds.push_back(round);
        }
        out(x) = rounds.back()(x % lanes, 0, x / lanes % lanes, x / (lanes * lanes));
        int columns = 1;
        for (Func &round : rounds) {
            columns *= 2;
            round.compute_root().bound(lane, 0, lanes).bound(vector, 0, lanes / columns).bound(column, 0, columns);
            round.bound_extent(block, rows);
            if (in_vectors) round.vectorize(lane).unroll(column).unroll(vector);
        }
        out.bound(x, 0, rows * lanes * lanes);
        gyre::map_lane_rounds(generator);
    });
}

} // namespace

TEST_CASE("rounds of lanes transpose, as shuffles and lane by lane") {
    for (const int lanes : {4, 8, 16})
        for (const bool in_vectors : {true, false}) {
            const PassGenerator made = rounds_of(lanes, in_vectors);
            const std::string lowered = made.lowered();
            CAPTURE(lanes);
            CAPTURE(lowered);
            CHECK(count(lowered, "lane_of_round(") == 0);
            CHECK((count(lowered, "shuffle(") > 0) == in_vectors);
            const Buffer<float> result = made.run(rows * lanes * lanes);
            for (int block = 0; block < rows; block++)
                for (int column = 0; column < lanes; column++)
                    for (int row = 0; row < lanes; row++)
                        CHECK(result((block * lanes + column) * lanes + row) ==
                              (float)((block * lanes + row) * lanes + column));
        }
}

TEST_CASE("blocks of 8 lanes, and others, are transposed alike, by rounds of lanes or without") {
    for (const int n : {4, 8})
        for (const bool has_lane_rounds : {true, false}) {
            const PassGenerator made([=](Internal::GeneratorBase &generator, Func out) {
                Var x{"x"}, row{"row"}, column{"column"};
                Func in{"in"};
                in(column, row) = cast<float>(100 * row + column);
                in.compute_root();
                gyre::Transpose t = gyre::transpose(in, n, "t", has_lane_rounds);
                out(x) = t.out(x % (2 * n), x / (2 * n));
                out.bound(x, 0, 4 * n * n);
                gyre::schedule_transpose(t, {out, x});
                if (has_lane_rounds) gyre::map_lane_rounds(generator);
            });
            CHECK((count(made.lowered(), "shuffle(") > 0) == (n == 8 && has_lane_rounds));
            const Buffer<float> result = made.run(4 * n * n);
            for (int x = 0; x < 4 * n * n; x++) CHECK(result(x) == (float)(100 * (x % (2 * n)) + x / (2 * n)));
        }
}
