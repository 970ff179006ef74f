#include "warp_nest.h"

#include "../loop_name.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

std::string kind_of(const For *loop) {
    const std::string kind = variable_of_loop(loop->name);
    return kind == row_loop || kind == column_loop || kind == depth_loop ? kind : "";
}

class FindTiles : public IRVisitor {
    using IRVisitor::visit;
    void visit(const For *op) override {
        found = found || kind_of(op) == row_loop;
        IRVisitor::visit(op);
    }

public:
    bool found = false;
};

class FindNests : public IRVisitor {
    using IRVisitor::visit;
    void visit(const For *op) override {
        if (is_gpu(op->for_type) || !for_warp)
            IRVisitor::visit(op);
        else if (has_warp_tile(op))
            nests.push_back(read_warp_nest(op));
    }
    void visit(const IfThenElse *op) override {
        Expr rest;
        const bool outside = for_warp;
        for_warp = for_warp || is_for_warp(op->condition, &rest);
        IRVisitor::visit(op);
        for_warp = outside;
    }
    bool for_warp = false;

public:
    std::vector<WarpNest> nests;
};

/// Down to the innermost stores, all of which one nest of loops is around.
void read(const Stmt &s, WarpNest *nest) {
    if (const For *loop = s.as<For>()) {
        nest->require(nest->stores.empty(), "has a loop beside a store");
        nest->require(loop->for_type == ForType::Serial || loop->for_type == ForType::Unrolled,
                      "has a loop that is not serial, " + loop->name);
        const auto extent = as_const_int(loop->extent);
        nest->require(is_const_zero(loop->min) && extent, "has a loop whose turns are not constant, " + loop->name);
        const std::string kind = kind_of(loop);
        if (variable_of_loop(loop->name) == row_tiles_loop) {
            nest->require(nest->row_tiles.name.empty(), std::string("has two loops ") + row_tiles_loop);
            nest->row_tiles = {loop->name, static_cast<int>(*extent)};
        } else if (kind.empty()) {
            nest->others.push_back({loop->name, static_cast<int>(*extent)});
        } else {
            std::string &variable = kind == row_loop ? nest->row : kind == column_loop ? nest->column : nest->depth;
            nest->require(variable.empty(), "has two loops " + kind);
            nest->require(*extent == (kind == column_loop ? tile_columns : tile_rows),
                          "has a tile of " + std::to_string(*extent) + " along " + kind);
            variable = loop->name;
        }
        read(loop->body, nest);
    } else if (const Block *block = s.as<Block>()) {
        const Expr outside = nest->condition;
        for (const Stmt &part : {block->first, block->rest}) {
            read(part, nest);
            nest->require(nest->condition.same_as(outside), "has some of its stores under a condition");
        }
    } else if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
        read(op->body, nest);
    } else if (const IfThenElse *branch = s.as<IfThenElse>()) {
        nest->require(!branch->else_case.defined(), "has two branches");
        nest->condition = nest->condition.defined() ? nest->condition && branch->condition : branch->condition;
        read(branch->then_case, nest);
    } else {
        const Store *store = s.as<Store>();
        nest->require(store && is_const_one(store->predicate), "does not come down to stores");
        nest->require(store->value.type().is_scalar(), "stores vectors");
        nest->stores.push_back({store->name, store->index, store->value});
    }
}

} // namespace

void WarpNest::refuse(const std::string &what) const {
    _halide_user_error << "CUDA: the warp tile " << name << " " << what << "\n";
    throw std::logic_error(what); // not reached: user errors end the generator
}

bool has_warp_tile(const Stmt &s) {
    FindTiles find;
    s.accept(&find);
    return find.found;
}

WarpNest read_warp_nest(const For *loop) {
    WarpNest nest;
    nest.name = loop->name;
    const Stmt inlined = without_any_lets(loop);
    read(inlined, &nest);
    nest.require(!nest.row.empty(), std::string("has no loop ") + row_loop);
    if (nest.condition.defined()) {
        std::vector<std::string> variables{nest.row, nest.column, nest.depth, nest.row_tiles.name};
        for (const WarpLoop &other : nest.others) variables.push_back(other.name);
        for (const std::string &v : variables)
            nest.require(v.empty() || !expr_uses_var(nest.condition, v), "has a condition on " + v);
    }
    return nest;
}

std::vector<WarpNest> find_warp_nests(const Stmt &kernel) {
    FindNests find;
    kernel.accept(&find);
    return find.nests;
}

} // namespace gyre::cuda
