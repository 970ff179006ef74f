/// passes/instructions/neighbour_pairs.h: what becomes one dense load, and that all pairs are those that were asked for.
#include "pass_generator.h"
#include "passes/instructions/neighbour_pairs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace Halide;
using namespace gyre::test;

namespace {

constexpr int pairs = 32;

/// Pairs of elements `stride` x and `stride` x + `apart` of 16-bit numbers n, as the sum 1000 first + second; and the lowered text.
std::string check_pairs(int stride, int apart, int lanes) {
    ImageParam in(UInt(16), 1, "in");
    const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
        Var x{"x"};
        Func pair{"pair"};
        pair(x) = gyre::neighbour_pair(in(stride * x), in(stride * x + apart));
        out(x) = cast<float>(1000 * (pair(x) & Expr(0xffffu)) + (pair(x) >> 16));
        pair.compute_root();
        if (lanes > 1) pair.vectorize(x, lanes);
        gyre::map_neighbour_pairs(generator);
    });
    Buffer<uint16_t> values(stride * pairs + apart);
    for (int i = 0; i < values.width(); i++) values(i) = (uint16_t)i;
    in.set(values);
    const Buffer<float> result = made.run(pairs);
    for (int x = 0; x < pairs; x++) CHECK(result(x) == (float)(1000 * stride * x + stride * x + apart));
    return made.lowered();
}

} // namespace

TEST_CASE("pairs of neighbours in memory are one dense load") {
    const std::string lowered = check_pairs(2, 1, 8);
    CAPTURE(lowered);
    CHECK(count(lowered, "neighbour_pair(") == 0);
    CHECK(count(lowered, "reinterpret<uint32x8>") > 0);
    CHECK(count(lowered, "shift_left") == 0);
}

TEST_CASE("pairs of other places, and single ones, are put together") {
    for (const auto &[stride, apart, lanes] : {std::array{1, 1, 8}, {2, 2, 8}, {3, 1, 8}, {2, 1, 1}}) {
        const std::string lowered = check_pairs(stride, apart, lanes);
        CAPTURE(lowered);
        CHECK(count(lowered, "neighbour_pair(") == 0);
        CHECK(count(lowered, "reinterpret<uint32x8>") == 0);
    }
}

TEST_CASE("pairs that a last element bounds are one vector of bounded places") {
    for (const int bound : {2 * pairs - 1, 37, 6}) {
        ImageParam in(UInt(16), 1, "in");
        Param<int> last("last");
        last.set(bound);
        const PassGenerator made([&](Internal::GeneratorBase &generator, Func out) {
            Var x{"x"};
            Func pair{"pair"};
            const auto at = [&](const Expr &place) { return in(min(place, last) + 3); };
            pair(x) = gyre::neighbour_pair(at(2 * x), at(2 * x + 1));
            out(x) = cast<float>(1000 * (pair(x) & Expr(0xffffu)) + (pair(x) >> 16));
            pair.compute_root().vectorize(x, 8).never_partition_all();
            gyre::map_neighbour_pairs(generator);
        });
        Buffer<uint16_t> values(2 * pairs + 3);
        for (int i = 0; i < values.width(); i++) values(i) = (uint16_t)i;
        in.set(values);
        const Buffer<float> result = made.run(pairs);
        for (int x = 0; x < pairs; x++)
            CHECK(result(x) == (float)(1000 * (std::min(2 * x, bound) + 3) + std::min(2 * x + 1, bound) + 3));
        const std::string lowered = made.lowered();
        CAPTURE(lowered);
        CHECK(count(lowered, "shift_left") == 0);
    }
}
