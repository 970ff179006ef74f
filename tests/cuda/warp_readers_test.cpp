/// What passes for warps read of a nest: fragments, staged loops, and reads of a state that the turn before has left.
#include "product.h"

#include "lowered.h"
#include "passes/cuda/carried.h"
#include "passes/cuda/fragments.h"
#include "passes/cuda/staged_loop.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre;
using namespace gyre::cuda;
using gyre::test::Product;

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
