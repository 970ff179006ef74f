#include "tile_products.h"

#include "tile_instruction.h"
#include "tile_loops.h"
#include "tile_sequence.h"

#include <map>
#include <set>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// A tile of an accumulator.
struct TilePlace {
    int64_t row_stride;
    bool has_products = false, has_sums = false; // sums: of columns, the same in all rows
};
using TilePlaces = std::map<int64_t, TilePlace>; // by their first elements

/// The accumulators of a pipeline, and of each the places of its tiles.
class FindAccumulators : public IRVisitor {
public:
    std::map<std::string, TilePlaces> tiles; // by accumulator

private:
    using IRVisitor::visit;
    void visit(const For *op) override {
        if (!is_tile_loop(op)) return IRVisitor::visit(op);
        const TileNest nest = read_tile_nest(op);
        const auto [known, added] = tiles[nest.accumulator].insert({nest.first, {nest.row_stride}});
        TilePlace &place = known->second;
        _halide_user_assert(added || place.row_stride == nest.row_stride)
            << "tile product " << op->name << ": tiles of " << nest.accumulator << " overlap\n";
        if (nest.kind == TileNest::Kind::multiply_add)
            (nest.adds_columns() ? place.has_sums : place.has_products) = true;
        _halide_user_assert(!place.has_sums || !place.has_products)
            << "tile product " << op->name << ": adds products and sums of columns to one tile\n";
    }
};

class MapTiles : public IRMutator {
public:
    using IRMutator::mutate;

    Stmt mutate(const Stmt &s) override {
        if (depth > 0) return IRMutator::mutate(s);
        FindAccumulators find;
        s.accept(&find);
        tiles = find.tiles;
        for (const auto &[name, places] : tiles) check_disjoint(name, places);
        depth++;
        Stmt mapped = IRMutator::mutate(s);
        depth--;
        return mapped;
    }

protected:
    using IRMutator::visit;

    Stmt visit(const For *op) override {
        if (!is_tile_loop(op)) return IRMutator::visit(op);
        const TileNest nest = read_tile_nest(op);
        const std::string tile = tile_name(nest.accumulator, nest.first);
        const bool sums = tiles.at(nest.accumulator).at(nest.first).has_sums;
        Stmt mapped = sums ? column_sums_instruction(nest, tile) : tile_instruction(nest, tile);
        for (const Expr &condition : nest.conditions) mapped = IfThenElse::make(condition, mapped);
        return mapped;
    }

    /// What is named around a single product becomes a part of it, so that its neighbours see which operands they share.
    Stmt visit(const LetStmt *op) override {
        const Stmt body = mutate(op->body);
        if (tile_call(body, "tile_matmul")) return substitute(op->name, op->value, body);
        return body.same_as(op->body) ? Stmt(op) : LetStmt::make(op->name, op->value, body);
    }

    Stmt visit(const Block *op) override {
        std::vector<Stmt> statements;
        flatten(op, statements);
        TileSequence sequence(TileSequence::Shared::in_a_row);
        for (const Stmt &s : statements) sequence.add(mutate(s));
        return sequence.statement();
    }

    Stmt visit(const Allocate *op) override {
        const auto found = tiles.find(op->name);
        if (found == tiles.end()) return IRMutator::visit(op);
        Stmt body = mutate(op->body);
        for (const auto &[first, place] : found->second)
            body = place.has_sums ? Allocate::make(tile_name(op->name, first), Float(32), MemoryType::Register,
                                                   {tile_columns}, const_true(), body)
                                  : Allocate::make(tile_name(op->name, first), Float(32, tile_elements),
                                                   MemoryType::AMXTile, {1}, const_true(), body);
        return body;
    }
    Stmt visit(const Free *op) override { return tiles.count(op->name) ? Evaluate::make(0) : Stmt(op); }
    Stmt visit(const ProducerConsumer *op) override {
        return tiles.count(op->name) ? mutate(op->body) : IRMutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        refuse(op->name);
        return IRMutator::visit(op);
    }
    Expr visit(const Load *op) override {
        refuse(op->name);
        return IRMutator::visit(op);
    }

private:
    std::map<std::string, TilePlaces> tiles;
    int depth = 0;

    static void check_disjoint(const std::string &name, const TilePlaces &places) {
        std::set<int64_t> taken;
        for (const auto &[first, place] : places)
            for (int r = 0; r < tile_rows; r++)
                for (int c = 0; c < tile_columns; c++)
                    _halide_user_assert(taken.insert(first + r * place.row_stride + c).second)
                        << "tiles of " << name << " overlap\n";
    }

    void refuse(const std::string &name) const {
        _halide_user_assert(!tiles.count(name)) << name << " is kept in tiles and used outside of tile products\n";
    }

    static std::string tile_name(const std::string &accumulator, int64_t first) {
        return accumulator + ".tile" + std::to_string(first);
    }

    static void flatten(const Block *op, std::vector<Stmt> &out) {
        for (const Stmt &s : {op->first, op->rest}) {
            if (const Block *more = s.as<Block>())
                flatten(more, out);
            else
                out.push_back(s);
        }
    }
};

} // namespace

void map_tile_products(GeneratorBase &generator) { generator.get_pipeline().add_custom_lowering_pass(new MapTiles); }

} // namespace gyre
