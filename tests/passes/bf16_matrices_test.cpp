/// passes/instructions/bf16_matrices.h: a nest of 4 lanes and 4 numbers over widened bf16 becomes one instruction, and what is none is refused.
#include "pass_generator.h"
#include "passes/instructions/bf16_matrices.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::test;

namespace {

Expr widened(const Expr &bits) { return reinterpret<float>(cast<uint32_t>(bits) << 16); }

/// A product of two rows of 4 numbers and two others. `depth`: how many; `row`: how far the second row is from the first.
PassGenerator product(ImageParam &a, ImageParam &b, int depth, int row, bool is_bf16 = true) {
    return PassGenerator([&, depth, row, is_bf16](Internal::GeneratorBase &generator, Func out) {
        Var x{"x"}, lane{gyre::matrix_lane_loop};
        RDom number(0, depth, gyre::matrix_depth_loop);
        Func sums{"sums"};
        const auto element = [&](ImageParam &m, const Expr &of_row) {
            const Expr bits = m(of_row * row + number);
            return is_bf16 ? widened(bits) : cast<float>(bits);
        };
        sums(lane) = 1.0f;
        sums(lane) += element(a, lane / 2) * element(b, lane % 2);
        out(x) = sums(x);
        out.bound(x, 0, 4).vectorize(x, 4);
        sums.compute_root().vectorize(lane, 4).update().reorder(number, lane);
        gyre::map_bf16_matrices(generator, {});
    });
}

} // namespace

TEST_CASE("a product of matrices of bf16 becomes one instruction") {
    ImageParam a(UInt(16), 1, "a"), b(UInt(16), 1, "b");
    const std::string lowered = product(a, b, 4, 4).lowered();
    CAPTURE(lowered);
    CHECK(count(lowered, "dot_product(") == 1);
    CHECK(count(lowered, gyre::matrix_lane_loop) == 0);
    CHECK(count(lowered, gyre::matrix_depth_loop) == 0);
    CHECK(count(lowered, "a[ramp(") == 1);
    CHECK(count(lowered, "b[ramp(") == 1);
}

TEST_CASE("products that are none of matrices of bf16 are refused, with the loop's name") {
    ImageParam a(UInt(16), 1, "a"), b(UInt(16), 1, "b");
    const struct {
        const char *said;
        PassGenerator made;
    } refused[] = {{"is not one of 4 lanes and 4 numbers", product(a, b, 8, 4)},
                   {"has an operand that is not two rows of 4 bf16 numbers", product(a, b, 4, 5)},
                   {"has an operand that is not two rows of 4 bf16 numbers", product(a, b, 4, 4, false)}};
    for (const auto &r : refused) {
        const std::string stopped = refusal([&] { r.made.lowered(); });
        CHECK(stopped.find(r.said) != std::string::npos);
        CHECK(stopped.find(gyre::matrix_lane_loop) != std::string::npos);
    }
}
