/// generators/cuda on tiles of matrices: what warps are given, what is staged ahead, and what is refused by name.
#include "product.h"

#include "cuda/fragments.h"
#include "cuda/staged_loop.h"
#include "lowered.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre::cuda;
using gyre::test::Product;

namespace {

Lowered lower_product(Product &p) {
    p.build();
    return lower(p.out, {p.a, p.b});
}

std::string refusal(Product p) {
    return gyre::cuda::refusal([&] { lower_product(p); });
}

} // namespace

TEST_CASE("warps: products become mma on fragments, two tiles a load, as many as the tiles hold") {
    Product p;
    const Lowered made = lower_product(p);
    CAPTURE(made.device);
    CHECK(count(made.device, "__launch_bounds__(64)") == 1);
    CHECK(count(made.device, "_0[16];") == 1); // 16 x 32 of 32 lanes
    CHECK(count(made.device, "_1[8];") == 1);  // 16 x 32 in pairs
    CHECK(count(made.device, "gyre_mma<gyre_bf16>(") == 2);
    CHECK(count(made.device, "gyre_load_tiles_transposed<gyre_bf16>(") == 1);
    CHECK(count(made.device, "gyre_pack<gyre_bf16>(") == 1);
    CHECK(count(made.device, "GYRE_COOPERATIVE_ENTRY(lowered_0)") == 1);
    Product halves;
    halves.type = Float(16);
    CHECK(count(lower_product(halves).device, "gyre_mma<gyre_f16>(") == 2);
}

TEST_CASE("warps: a turn waits for what it reads, asks for the next, then computes, and registers need no barrier") {
    Product p;
    const std::string made = lower_product(p).device;
    CAPTURE(made);
    const size_t loop = made.find("_s1_r__z = 0;");
    const size_t wait = made.find("gyre_copies_wait<0>()", loop), barrier = made.find("GYRE_SYNC()", loop);
    const size_t copy = made.find("gyre_copy_async<8>(", loop), commit = made.find("gyre_copies_commit()", loop);
    const size_t read = made.find("gyre_load_tiles", loop);
    CHECK(made.find("gyre_copy_async<8>(") < loop); // of the first turn
    CHECK(loop < wait);
    CHECK(wait < barrier);
    CHECK(barrier < copy);
    CHECK(copy < commit);
    CHECK(commit < read);
    CHECK(count(made, "GYRE_SYNC();") == 3); // of a turn, before the result takes the same memory, and after
}

TEST_CASE("warps: what cannot be mapped stops the build with the tile's name and the reason") {
    Product shallow;
    shallow.depth = 8;
    const std::string depth = refusal(shallow);
    CAPTURE(depth);
    CHECK(depth.find("CUDA: the warp tile sum") != std::string::npos);
    CHECK(depth.find("a tile of 8 along mma_k") != std::string::npos);

    Product wide;
    wide.type = Float(32);
    const std::string type = refusal(wide);
    CAPTURE(type);
    CHECK(type.find("has factors that are not both of 16 bits") != std::string::npos);

    Product in_registers;
    in_registers.in_shared = false;
    const std::string memory = refusal(in_registers);
    CAPTURE(memory);
    CHECK(memory.find("CUDA: ") != std::string::npos);

    Product multiplied;
    multiplied.multiplies_rows = true;
    const std::string reduction = refusal(multiplied);
    CAPTURE(reduction);
    CHECK(reduction.find("the warp tile of_row") != std::string::npos);
    CHECK(reduction.find("reduces rows by something else than max or +") != std::string::npos);
}

TEST_CASE("warps: a loop whose range no Func around it tells is refused") {
    Product p;
    p.build();
    Lowering lowering;
    lowering.ranges["r"] = {"nowhere", 0, 1};
    const std::string said = gyre::cuda::refusal([&] { lower(p.out, {p.a, p.b}, lowering); });
    CAPTURE(said);
    CHECK(said.find("has a range in nowhere, which is not computed around it") != std::string::npos);
}

TEST_CASE("fragments: steps of indices, and conditions for the first lane") {
    using namespace Halide::Internal;
    const Expr m = Variable::make(Int(32), "m"), n = Variable::make(Int(32), "n");
    CHECK(step_of((m * 8 + n) * 4, "m") == 32);
    CHECK(step_of(n, "m") == 0);
    CHECK(!step_of(m * n, "m").has_value());
    CHECK(is_const(at_origin(m * 8 + n + 5, {"m", "n"}), 5));
    const Expr lane = Variable::make(Int(32), lane_index);
    Expr rest;
    CHECK(is_for_warp(lane < 1 && n < 3, &rest));
    CHECK(equal(rest, n < 3));
    CHECK(is_for_warp(lane < 1, &rest));
    CHECK(!rest.defined());
    CHECK(!is_for_warp(lane < 2, &rest));
}

TEST_CASE("staged loops: only producers that fill a ring of slots by the loop's variable are taken") {
    using namespace Halide::Internal;
    const Expr v = Variable::make(Int(32), "v");
    const auto loop_with = [&](const Expr &index, const std::string &array) {
        const Stmt fill = Store::make(array, 1.0f, index, Parameter(), const_true(), ModulusRemainder());
        const Stmt use = Evaluate::make(Call::make(Int(32), "use", {}, Call::Extern));
        return For::make("v", 0, 10, ForType::Serial, Partition::Auto, DeviceAPI::None,
                         Block::make(ProducerConsumer::make(array, true, fill), use));
    };
    const auto read = [&](const Expr &index, const std::string &array) {
        return read_staged_loop(loop_with(index, array).as<For>(), {"shared"});
    };
    CHECK(read(v % 3 * 8, "shared").staging.size() == 1);
    CHECK(read(v % 3 * 8, "shared").slots == 3);
    CHECK(read(v * 8, "shared").staging.empty());
    CHECK(read(v % 3 * 8, "registers").staging.empty());
}
