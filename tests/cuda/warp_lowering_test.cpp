/// generators/passes/cuda on tiles of matrices: what warps are given, what is staged ahead, and what is refused by name.
#include "product.h"

#include "lowered.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre;
using namespace gyre::cuda;
using gyre::test::Product;

namespace {

Lowered lower_product(Product &p, const std::set<std::string> &aligned = {"b"}) {
    p.build();
    Lowering lowering;
    lowering.aligned = aligned;
    return lower(p.out, {p.a, p.b}, lowering);
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

TEST_CASE("warps: copies from a buffer that nobody says is aligned ask whether they are") {
    Product p;
    const std::string made = lower_product(p, {"a"}).device;
    CAPTURE(made);
    CHECK(count(made, "gyre_copy_async_if_aligned<8>(") > 0);
    CHECK(count(made, "gyre_copy_async<8>(") == 0);
}

TEST_CASE(
    "warps: a product in f32 is multiply-adds of all tiles along the columns, by rows of shared memory as they lie") {
    Product p;
    p.type = Float(32);
    p.row_padding = 4;
    const std::string made = lower_product(p, {"b"}).device;
    CAPTURE(made);
    CHECK(count(made, "gyre_product<4, 36, 1>(") == 1);
    CHECK(count(made, "gyre_mma<") == 0);
    CHECK(count(made, "gyre_copy_async<4>(") > 0);
}

TEST_CASE("warps: what cannot be mapped stops the build with the tile's name and the reason") {
    Product shallow;
    shallow.depth = 8;
    const std::string depth = refusal(shallow);
    CAPTURE(depth);
    CHECK(depth.find("CUDA: the warp tile sum") != std::string::npos);
    CHECK(depth.find("a tile of 8 along mma_k") != std::string::npos);

    Product wide;
    wide.type = Float(64);
    const std::string type = refusal(wide);
    CAPTURE(type);
    CHECK(type.find("has factors that are not both of 16 bits, or in f32") != std::string::npos);

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

TEST_CASE("warps: products of warpgroups refuse an operand that is not laid out for them") {
    Product p;
    p.build();
    Lowering lowering;
    lowering.warpgroups = true;
    const std::string said = gyre::cuda::refusal([&] { lower(p.out, {p.a, p.b}, lowering); });
    CAPTURE(said);
    CHECK(said.find("the warp tile sum") != std::string::npos);
    CHECK(said.find("has columns that are not whole panels of a warpgroup's product") != std::string::npos);
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
