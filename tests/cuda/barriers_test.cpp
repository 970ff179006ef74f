/// generators/passes/cuda/barriers.h: which barriers stay, what becomes a copy, and what a loop does ahead of its turns.
#include "passes/cuda/barriers.h"

#include "lowered.h"
#include "passes/cuda/primitives.h"

#include <doctest/doctest.h>

using namespace Halide;
using namespace Halide::Internal;
using namespace gyre::cuda;

namespace {

const Expr turn = Variable::make(Int(32), "turn");

Expr dense(const Expr &first, int lanes = 4) { return Ramp::make(first, 1, lanes); }

Stmt store(const char *array, const Expr &value, const Expr &index) {
    return Store::make(array, value, index, Parameter(), const_true(index.type().lanes()), ModulusRemainder());
}

Expr load(const char *array, const Expr &index) {
    return Load::make(Float(32).with_lanes(index.type().lanes()), array, index, Buffer<>(), Parameter(),
                      const_true(index.type().lanes()), ModulusRemainder());
}

Stmt use(const Expr &value) { return Evaluate::make(Call::make(Int(32), "use", {value}, Call::Extern)); }

Stmt shared(const Stmt &body) {
    return Allocate::make("tile", Float(32), MemoryType::GPUShared, {Expr(64)}, const_true(), body);
}

Stmt loop(const Stmt &body, const Expr &min = 0) {
    return For::make("turn", min, 10, ForType::Serial, Partition::Auto, DeviceAPI::None, body);
}

/// Fills slot turn % slots of the tile, then computes with it: what Halide has between these are its barriers.
Stmt ring(int slots, const Stmt &fill) {
    const Stmt producer = ProducerConsumer::make("tile", true, fill);
    return Block::make({producer, wait_for_threads(), use(load("tile", turn % slots * 16)), wait_for_threads()});
}

/// The order of what is done, a word each, and blocks in brackets.
class Order : public IRVisitor {
public:
    std::string text;

private:
    using IRVisitor::visit;
    void visit(const Store *op) override {
        text += op->name + (!read_copy(op).from ? "=" : read_copy(op).aligned ? "=copy" : "=copy?") + " ";
    }
    void visit(const Evaluate *op) override {
        const Call *call = op->value.as<Call>();
        if (!call || call->name == staged_turn) return;
        const auto later = call->name == wait_call ? as_const_int(call->args[0]) : std::nullopt;
        text += is_barrier(op) ? "barrier" : call->name == commit_call ? "commit" : later ? "wait" : call->name;
        text += (later ? std::to_string(*later) : "") + " ";
    }
    void visit(const LetStmt *op) override {
        if (op->name.rfind("copy_", 0) == 0) text += "place ";
        op->body.accept(this);
    }
    void visit(const For *op) override {
        text += is_staged(op) ? "turns( " : "for( ";
        op->body.accept(this);
        text += ") ";
    }
    void visit(const IfThenElse *op) override {
        const Call *asked = op->condition.as<Call>();
        text += !asked                           ? "if( "
                : asked->name == has_turn        ? "has_turn( "
                : asked->name == is_copying_warp ? "copying( "
                                                 : "next_turns( ";
        op->then_case.accept(this);
        text += ") ";
        if (!op->else_case.defined()) return;
        text += "else( ";
        op->else_case.accept(this);
        text += ") ";
    }
};

std::string order_of(const Stmt &s) {
    Order order;
    s.accept(&order);
    return order.text;
}

std::string placed_in(const Stmt &kernel, const std::set<std::string> &aligned = {"in"}) {
    return order_of(place_barriers(kernel, Fragments(), aligned));
}

} // namespace

TEST_CASE("barriers: only those stay that shared memory was touched before, and they wait for its copies") {
    const Stmt fill = store("tile", load("in", dense(0)), dense(0)), set = store("tile", 1.0f, 0);
    const Stmt own = store("registers", 1.0f, 0), read = use(load("tile", 0)), wait = wait_for_threads();
    CHECK(placed_in(shared(Block::make({own, wait, own, wait}))) == "registers= registers= ");
    CHECK(placed_in(shared(Block::make({set, wait, wait, read, wait}))) == "tile= wait0 barrier use wait0 barrier ");
    CHECK(placed_in(shared(Block::make({fill, wait, own, wait}))) == "tile=copy commit wait0 barrier registers= ");
    // A vector that is read counts as well, and what a loop's later turns do before its earlier ones.
    CHECK(placed_in(shared(Block::make(use(load("tile", dense(0))), wait))) == "use wait0 barrier ");
    CHECK(placed_in(shared(loop(Block::make(wait, set)))) == "for( wait0 barrier tile= ) ");
}

TEST_CASE("barriers: the search of a tile is a barrier itself") {
    const Stmt search = use(any_not_finite(load("tile", 0), load("tile", 8), 8, 8, 1));
    CHECK(placed_in(shared(Block::make(search, wait_for_threads()))) == "use ");
}

TEST_CASE("barriers: 16 dense bytes of other memory are copied, anything else is stored") {
    const auto one = [](const Stmt &s) { return placed_in(shared(s)); };
    CHECK(one(store("tile", load("in", dense(8)), dense(0))) == "tile=copy ");
    CHECK(one(store("tile", load("other", dense(8)), dense(0))) == "tile=copy? ");
    CHECK(one(store("tile", load("tile", dense(8)), dense(0))) == "tile= ");
    CHECK(one(store("tile", load("in", dense(8)) * 2.0f, dense(0))) == "tile= ");
    CHECK(one(store("tile", load("in", dense(8, 8)), dense(0, 8))) == "tile= ");
    CHECK(one(store("tile", load("in", Ramp::make(0, 2, 4)), dense(0))) == "tile= ");
    CHECK(one(store("tile", load("in", dense(8)), Ramp::make(0, 2, 4))) == "tile= ");
    CHECK(one(store("registers", load("in", dense(8)), dense(0))) == "registers= ");
}

TEST_CASE(
    "barriers: a ring of slots is filled as many turns ahead as it has slots, less one, and a turn has one barrier") {
    const auto filled = [](int slots) {
        return shared(loop(ring(slots, store("tile", load("in", dense(turn * 16)), dense(turn % slots * 16)))));
    };
    REQUIRE(order_of(filled(2)) == "for( tile= barrier use barrier ) ");
    CHECK(placed_in(filled(2)) == "has_turn( place place tile=copy ) commit "
                                  "turns( wait0 barrier has_turn( place place tile=copy ) commit use ) ");
    CHECK(placed_in(filled(3)) == "has_turn( place place tile=copy ) commit has_turn( place place tile=copy ) commit "
                                  "turns( wait1 barrier has_turn( place place tile=copy ) commit use ) ");
    CHECK(placed_in(filled(1)) == "for( tile=copy commit wait0 barrier use wait0 barrier ) "); // no ring
    // What the loop begins with, and that memory of it is not taken before all have read it.
    const Stmt twice = shared(Block::make(
        {store("tile", 1.0f, 0), loop(filled(2).as<Allocate>()->body.as<For>()->body), wait_for_threads()}));
    const std::string order = placed_in(twice);
    CHECK(order.find("tile= wait0 barrier has_turn(") == 0);
    CHECK(order.find(") wait0 barrier ") == order.size() - std::string(") wait0 barrier ").size());
}

TEST_CASE("barriers: what tells copies their places is read before the first of them") {
    const auto copy = [](int row) {
        const Expr page = Variable::make(Int(32), "page");
        return LetStmt::make("page", cast<int>(load("table", turn + row)),
                             store("tile", load("in", dense(page)), dense(turn % 2 * 16 + 4 * row)));
    };
    const Stmt two = shared(loop(ring(2, Block::make(copy(0), copy(1)))));
    const std::string staged = "has_turn( place place place place tile=copy tile=copy ) commit ";
    CHECK(placed_in(two) == staged + "turns( wait0 barrier " + staged + "use ) ");
    // Not out of branches, where a place may not be there.
    const Stmt some = shared(loop(ring(2, IfThenElse::make(Variable::make(Bool(), "edge"), copy(0)))));
    const std::string guarded = "has_turn( if( tile=copy ) ) commit ";
    CHECK(placed_in(some) == guarded + "turns( wait0 barrier " + guarded + "use ) ");
}

TEST_CASE("barriers: turns without what is under a condition have a loop of their own") {
    const Expr lane = Variable::make(Int(32), lane_index), i = Variable::make(Int(32), "f.s0.mma_m");
    const Expr edge = load("given", turn) > 0.0f;
    const Stmt nest = For::make("f.s0.mma_m", 0, 16, ForType::Serial, Partition::Auto, DeviceAPI::None,
                                IfThenElse::make(edge, store("f", 1.0f, i)));
    const Stmt filled = ring(2, store("tile", load("in", dense(turn * 16)), dense(turn % 2 * 16)));
    const Stmt kernel = shared(loop(Block::make(filled, IfThenElse::make(lane < 1, nest))));
    const std::string staged = "has_turn( place place tile=copy ) commit ", begin = "wait0 barrier " + staged + "use ";
    CHECK(placed_in(kernel) ==
          staged + "turns( " + begin + "if( for( if( f= ) ) ) next_turns( " + begin + "if( ) ) ) ");
}

TEST_CASE("barriers: copying warps fill a ring, and others wait for its slots and say when they were read") {
    const auto threads = [](const char *name, int extent, const Stmt &body) {
        return For::make(name, 0, extent, ForType::GPUThread, Partition::Auto, DeviceAPI::None, body);
    };
    const Expr warp = Variable::make(Int(32), warp_index);
    const Stmt fill =
        IfThenElse::make(warp < 4, store("tile", load("in", dense(turn * 16 + warp * 4)), dense(turn % 2 * 16)));
    const auto read_by = [](const char *func) {
        return ProducerConsumer::make(func, true, use(load("tile", turn % 2 * 16)));
    };
    const Stmt reads = Block::make(read_by("scores"), read_by("weights"));
    const Stmt turns =
        loop(Block::make({ProducerConsumer::make("tile", true, fill), wait_for_threads(), reads, wait_for_threads()}),
             cast<int>(load("first", 0)));
    const Stmt body = Block::make({store("first", 2.0f, 0), store("tile", 1.0f, 40), wait_for_threads(),
                                   store("others", 1.0f, 0), turns, wait_for_threads(), store("tile", 1.0f, 41)});
    const Stmt kernel = shared(threads(warp_index, 8, threads(lane_index, 32, body)));
    const Stmt placed = place_barriers(kernel, Fragments(), {"in"}, true, {4, {{"tile", {"scores", "weights"}}}});
    const std::string sync = "wait0 gyre_fence_async_proxy gyre_sync_of ";
    CHECK(order_of(placed) ==
          "for( for( gyre_rings_begin copying( first= turns( gyre_ring_wait_emptied place place tile=copy "
          "gyre_ring_filling ) "
          "gyre_rings_end ) else( first= tile= " +
              sync +
              "others= gyre_ring_emptied gyre_ring_emptied turns( gyre_ring_wait_filled use use gyre_ring_emptied ) " +
              sync + "tile= ) ) ) ");
    // Copying warps are counted from 0.
    class FindSource : public IRVisitor {
        using IRVisitor::visit;
        void visit(const LetStmt *op) override {
            if (op->name == "copy_from.0") place = op->value;
            IRVisitor::visit(op);
        }

    public:
        Expr place;
    } find;
    placed.accept(&find);
    REQUIRE(find.place.defined());
    CHECK(is_const(simplify(substitute({{warp_index, Expr(9)}, {"turn", Expr(0)}}, find.place)), 4));
    const std::string said =
        refusal([&] { place_barriers(kernel, Fragments(), {"in"}, true, {4, {{"tile", {"others", "others"}}}}); });
    CHECK(said.find("is not read where Lowering says") != std::string::npos);
}

TEST_CASE("barriers: a loop that fills more shared memory than its ring is refused by name") {
    const Stmt filled = ring(2, store("tile", load("in", dense(turn * 16)), dense(turn % 2 * 16)));
    const Stmt more = shared(loop(Block::make(filled, store("tile", 1.0f, 40))));
    const std::string said = refusal([&] { placed_in(more); });
    CHECK(said.find("fills more of it, in the loop turn") != std::string::npos);
}
