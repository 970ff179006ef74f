/// Tiles of warps that run under a condition: in which turns, and which conditions are refused.
#include "product.h"

#include "lowered.h"
#include "passes/cuda/conditional_nests.h"
#include "passes/cuda/fragments.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace gyre;
using namespace gyre::cuda;
using gyre::test::Product;

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
