/// generators/passes/cuda on tiles of matrices: what warps are given, what is staged ahead, and what is refused by name.
#include "product.h"

#include "lowered.h"
#include "passes/cuda/carried.h"
#include "passes/cuda/conditional_nests.h"
#include "passes/cuda/fragments.h"
#include "passes/cuda/staged_loop.h"

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

TEST_CASE("fragments: elements are of the tile that their columns are in, and columns between tiles are refused") {
    using namespace Halide::Internal;
    const Expr m = Variable::make(Int(32), "m"), n = Variable::make(Int(32), "n");
    WarpNest nest;
    nest.name = "nest";
    nest.row = "m";
    nest.column = "n";
    nest.stores.push_back({"array", m * 16 + n, cast<float>(n)});
    Fragments fragments;
    fragments.find({nest}, {{"array", {Float(32), 16 * tile_rows}}});
    CHECK(is_const(fragments.tile(nest, "array", m * 16 + n, "n"), 0));
    CHECK(is_const(fragments.tile(nest, "array", m * 16 + n + tile_columns, "n"), 1));
    for (const int between : {1, 4, tile_columns + 2}) {
        const std::string said = gyre::cuda::refusal([&] { fragments.tile(nest, "array", m * 16 + n + between, "n"); });
        CAPTURE(said);
        CHECK(said.find("has columns of array between tiles") != std::string::npos);
    }
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
    CHECK(read(Mod::make(v, 1) * 8, "shared").staging.empty()); // one slot, which the next turn's would overwrite
    CHECK(read(v % 3 * 8, "registers").staging.empty());
}

TEST_CASE("carried: reads of a state become reads of its array, where that is in scope") {
    using namespace Halide::Internal;
    const Expr x = Variable::make(Int(32), "x"), y = Variable::make(Int(32), "y"),
               turn = Variable::make(Int(32), "turn");
    const Stmt use = Store::make("to", carried("state", 1, Float(32), {x, y}, {16}, turn), 0, Parameter(), const_true(),
                                 ModulusRemainder());
    const auto among = [&](const char *array) {
        return Allocate::make(array, Float(32), MemoryType::Register, {Expr(256)}, const_true(), use);
    };
    class Find : public IRVisitor {
        using IRVisitor::visit;
        void visit(const Load *op) override { load = op; }

    public:
        const Load *load = nullptr;
    } find;
    const Stmt read = read_carried(among("state.1"));
    read.accept(&find);
    REQUIRE((find.load != nullptr));
    CHECK(find.load->name == "state.1");
    CHECK(is_const_zero(simplify(find.load->index - (y * 16 + x))));
    for (const char *other : {"state.0", "state.10", "estate.1"}) {
        const std::string said = gyre::cuda::refusal([&] { read_carried(among(other)); });
        CHECK(said.find("what state carries is read where it is not computed") != std::string::npos);
    }
}

namespace {

Internal::Stmt tile_of(const Internal::Stmt &body) {
    return Internal::For::make("f.s0.mma_m", 0, 16, Internal::ForType::Serial, Partition::Auto, DeviceAPI::None, body);
}

bool no_scalars(const Internal::Stmt &) { return false; }

} // namespace

TEST_CASE("warps: a number that all threads share is stored in the turns that its condition names, and in no others") {
    using namespace Halide::Internal;
    const auto stored = [](const char *name, int value) {
        return Store::make(name, value, Expr(0), Parameter(), const_true(), ModulusRemainder());
    };
    const auto is_scalar = [](const Stmt &s) {
        class Find : public IRVisitor {
            using IRVisitor::visit;
            void visit(const Store *op) override { (op->name == "number" ? number : others) = true; }

        public:
            bool number = false, others = false;
        } find;
        s.accept(&find);
        return find.number && !find.others;
    };
    const Expr lane = Variable::make(Int(32), lane_index), warp = Variable::make(Int(32), warp_index);
    const Expr first = lane < 1 && warp < 1, edge = Variable::make(Bool(), "edge");
    const Expr own = Load::make(Int(32), "own", Expr(0), Buffer<>(), Parameter(), const_true(), ModulusRemainder());
    const auto turn = [&](const Expr &condition) {
        const Stmt number = Block::make(stored("number", 0), IfThenElse::make(condition, stored("number", 1)));
        return Block::make(stored("own", 1), IfThenElse::make(first, number));
    };
    const Unconditional split = without_conditional_nests(turn(edge), turn(edge), is_scalar);
    REQUIRE(split.else_when.defined());
    CHECK(equal(split.else_when, edge));
    const Stmt left = Block::make(stored("number", 0), Evaluate::make(0));
    CHECK(equal(split.rest, Block::make(stored("own", 1), IfThenElse::make(first, left))));
    const Unconditional twice = without_conditional_nests(Block::make(turn(edge), turn(edge)), turn(edge), is_scalar);
    CHECK(equal(twice.else_when, edge)); // asked once
    CHECK(!without_conditional_nests(turn(own > 0), turn(own > 0), is_scalar).else_when.defined());
}

TEST_CASE("warps: tiles under a condition that is known before a turn are told from those that always run") {
    using namespace Halide::Internal;
    const Expr i = Variable::make(Int(32), "f.s0.mma_m"), edge = Variable::make(Bool(), "edge");
    const Stmt store = Store::make("f", 1.0f, i, Parameter(), const_true(), ModulusRemainder());
    const Expr lane = Variable::make(Int(32), lane_index), warp = Variable::make(Int(32), warp_index);
    const Stmt always = IfThenElse::make(lane < 1, tile_of(store)), inside = tile_of(IfThenElse::make(edge, store));
    for (const Stmt &conditional :
         {IfThenElse::make(lane < 1, inside), IfThenElse::make(lane < 1 && edge, tile_of(store)),
          IfThenElse::make(lane < 1, IfThenElse::make(edge, tile_of(store)))}) {
        const Stmt both = Block::make(always, conditional);
        const Unconditional split = without_conditional_nests(both, both, no_scalars);
        REQUIRE(split.else_when.defined());
        CHECK(equal(split.else_when, edge));
        CHECK(find_warp_nests(split.rest).size() == 1);
    }
    CHECK(!without_conditional_nests(always, always, no_scalars).else_when.defined());
    const Expr other = Variable::make(Bool(), "other");
    const Stmt either =
        Block::make(IfThenElse::make(lane < 1, inside), IfThenElse::make(lane < 1 && other, tile_of(store)));
    const Unconditional split = without_conditional_nests(either, either, no_scalars);
    CHECK(equal(split.else_when, edge || other));
    CHECK(find_warp_nests(split.rest).empty());
}

TEST_CASE("warps: tiles whose condition a turn decides, or differs from warp to warp, stay in every turn") {
    using namespace Halide::Internal;
    const Expr i = Variable::make(Int(32), "f.s0.mma_m"), zero = 0;
    const auto stored = [&](const char *name, const Expr &value) {
        return Store::make(name, value, zero, Parameter(), const_true(), ModulusRemainder());
    };
    const auto loaded = [&](const char *name) {
        return Load::make(Int(32), name, zero, Buffer<>(), Parameter(), const_true(), ModulusRemainder());
    };
    const Expr lane = Variable::make(Int(32), lane_index), warp = Variable::make(Int(32), warp_index),
               defined = Variable::make(Int(32), "defined"), unknown = Variable::make(Bool(), "unknown");
    const Stmt tile = tile_of(Store::make("f", 1.0f, i, Parameter(), const_true(), ModulusRemainder()));
    const Stmt staging = stored("staged", 1), own = stored("own", 1);
    const auto left_by = [&](const Expr &condition) {
        const Stmt body = Block::make(
            own,
            LetStmt::make("defined", loaded("given"),
                          IfThenElse::make(lane < 1, tile_of(IfThenElse::make(
                                                         condition, Store::make("f", 1.0f, i, Parameter(), const_true(),
                                                                                ModulusRemainder()))))));
        return without_conditional_nests(body, Block::make(staging, body), no_scalars);
    };
    CHECK(find_warp_nests(left_by(loaded("given") > 0).rest).empty());
    for (const Expr &condition : {loaded("own") > 0, loaded("staged") > 0, loaded("given") > 0 && loaded("own") > 0,
                                  defined > 0, lane < 2, warp < 1, Call::make(Bool(), "asked", {}, Call::Extern)}) {
        const Unconditional split = left_by(condition);
        CHECK(!split.else_when.defined());
        CHECK(find_warp_nests(split.rest).size() == 1);
    }
    // Nor is a condition asked for outside of another one that stays.
    const Stmt within = IfThenElse::make(lane < 1 && warp < 1, IfThenElse::make(unknown, tile));
    CHECK(!without_conditional_nests(within, within, no_scalars).else_when.defined());
    const Stmt otherwise = IfThenElse::make(lane < 1, IfThenElse::make(unknown, tile, tile));
    CHECK(!without_conditional_nests(otherwise, otherwise, no_scalars).else_when.defined());
}

TEST_CASE("warps: a tile is under a condition as a whole, or refused") {
    using namespace Halide::Internal;
    const Expr i = Variable::make(Int(32), "f.s0.mma_m"), edge = Variable::make(Bool(), "edge");
    const auto store = [&](const char *name) {
        return Store::make(name, 1.0f, i, Parameter(), const_true(), ModulusRemainder());
    };
    const Stmt some = IfThenElse::make(edge, store("f"));
    const auto said = [](const Stmt &body) {
        return gyre::cuda::refusal([&] { read_warp_nest(tile_of(body).as<For>()); });
    };
    CHECK(said(IfThenElse::make(edge, Block::make(store("f"), store("g")))) == "not refused");
    for (const Stmt &body : {Block::make(some, store("g")), Block::make(store("g"), some)})
        CHECK(said(body).find("has some of its stores under a condition") != std::string::npos);
}
