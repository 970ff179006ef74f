#include "short_tiles.h"

#include "../loop_mutator.h"
#include "../loop_name.h"
#include "turns_together.h"

#include <algorithm>
#include <vector>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

bool is_unrolled(const RowTiles &tiles, const For *op) {
    return tiles.unrolled.count({func_of_loop(op->name), variable_of_loop(op->name)}) > 0;
}

class FindUnrolled : public IRVisitor {
public:
    bool found = false;
    explicit FindUnrolled(const RowTiles &tiles) : tiles(tiles) {}

private:
    const RowTiles &tiles;

    using IRVisitor::visit;
    void visit(const For *op) override {
        found = found || is_unrolled(tiles, op);
        IRVisitor::visit(op);
    }
};

/// The loops over vectors that are unrolled, of a tile with so many.
class UnrollVectors : public IRMutator {
public:
    UnrollVectors(const RowTiles &tiles, int vectors) : tiles(tiles), vectors(vectors) {}

private:
    const RowTiles &tiles;
    const int vectors;

    using IRMutator::visit;
    Stmt visit(const For *op) override {
        if (!is_unrolled(tiles, op)) return IRMutator::visit(op);
        _halide_user_assert(is_const(op->extent, tiles.vectors))
            << "loop " << op->name << " has " << op->extent << " turns, expected " << tiles.vectors << "\n";
        const Stmt body = mutate(op->body);
        std::vector<Stmt> turns;
        for (int turn = 0; turn < vectors; turn++) turns.push_back(substitute(op->name, op->min + turn, body));
        return Block::make(turns);
    }
};

class EndShortTiles : public LoopMutator {
public:
    explicit EndShortTiles(const RowTiles &tiles)
        : LoopMutator("there is no loop of " + tiles.of.name() + " over row tiles, or none in it over vectors"),
          tiles(tiles) {}

private:
    const RowTiles tiles;
    Expr rows_left, vectors_left; // of the tile; undefined: outside of it

    using LoopMutator::visit;
    Stmt visit(const For *op) override {
        if (func_of_loop(op->name) == tiles.of.name() && variable_of_loop(op->name) == tiles.tile) return of_tiles(op);
        if (!vectors_left.defined()) return IRMutator::visit(op);
        FindUnrolled within(tiles);
        op->accept(&within);
        if (within.found) return for_each_number(op);
        if (!tiles.ended.count(variable_of_loop(op->name))) return IRMutator::visit(op);
        Expr end = op->extent;
        if (is_const(end, tiles.vectors))
            end = vectors_left;
        else if (is_const(end, tiles.vectors * tiles.lanes))
            end = rows_left;
        return For::make(op->name, op->min, end, op->for_type, op->partition_policy, op->device_api, mutate(op->body));
    }
    Stmt of_tiles(const For *op) {
        const int lanes = tiles.lanes;
        const std::string rows = op->name + ".rows", vectors = op->name + ".vectors";
        const Expr left = min(tiles.rows - Variable::make(Int(32), op->name) * tiles.of_tile, tiles.of_tile);
        rows_left = Variable::make(Int(32), rows);
        vectors_left = Variable::make(Int(32), vectors);
        Stmt body = mutate(op->body);
        rows_left = vectors_left = Expr();
        body = LetStmt::make(vectors, (Variable::make(Int(32), rows) + (lanes - 1)) / lanes, body);
        body = LetStmt::make(rows, left, body);
        return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, body);
    }
    /// Turns whose register tiles, with so many vectors, have as many sums as keep multiply-adds busy: each waits for the one before.
    int turns_together(Stmt turn, int vectors) const {
        while (const LetStmt *let = turn.as<LetStmt>()) turn = let->body;
        const Allocate *const register_tile = turn.as<Allocate>();
        if (!register_tile) return 1;
        const int sums = register_tile->constant_allocation_size() / (tiles.vectors * tiles.lanes) * vectors;
        return std::max(1, tiles.least_sums / std::max(1, sums));
    }
    Stmt for_each_number(const For *op) {
        found = true;
        const auto with = [&](int vectors) {
            const Stmt loop = simplify(UnrollVectors(tiles, vectors).mutate(Stmt(op)));
            const For *const each = loop.as<For>();
            const int together = each ? turns_together(each->body, vectors) : 1;
            return together > 1 ? simplify(take_turns_together(each, together)) : loop;
        };
        Stmt all = with(tiles.vectors);
        for (int fewer = 1; fewer < tiles.vectors; fewer++)
            all = IfThenElse::make(vectors_left == fewer, with(fewer), all);
        return all;
    }
};

} // namespace

void end_short_tiles(GeneratorBase &generator, const RowTiles &tiles) {
    generator.get_pipeline().add_custom_lowering_pass(new EndShortTiles(tiles));
}

} // namespace gyre
