#include "tile_loops.h"

#include "../loop_name.h"
#include "nest_index.h"
#include "tile_products.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;

bool is_tile_loop(const For *loop) {
    const std::string kind = variable_of_loop(loop->name);
    return kind == tile_row_loop || kind == tile_column_loop || kind == tile_depth_loop;
}

TileLoops::TileLoops(const For *outermost) : outermost(outermost) {
    Stmt s = outermost;
    for (;;) {
        if (const For *loop = s.as<For>()) {
            const std::string kind = variable_of_loop(loop->name);
            const int turns = kind == tile_depth_loop ? tile_depth : tile_rows;
            require(is_tile_loop(loop) && !loops.count(kind), "has another loop in it, " + loop->name);
            require(is_const_zero(loop->min) && is_const(loop->extent, turns), "has too many or too few turns");
            loops[kind] = loop->name;
            s = loop->body;
        } else if (const LetStmt *let = s.as<LetStmt>()) {
            s = substitute(let->name, let->value, let->body);
        } else if (const IfThenElse *branch = s.as<IfThenElse>()) {
            for (const auto &[kind, name] : loops)
                require(!expr_uses_var(branch->condition, name), "has a condition on " + name);
            require(!branch->else_case.defined(), "has two branches");
            conditions.push_back(branch->condition);
            s = branch->then_case;
        } else {
            break;
        }
    }
    innermost = s;
    store = s.as<Store>();
    require(store && is_const_one(store->predicate), "does not come down to one store");
    for (const char *loop : {tile_row_loop, tile_column_loop})
        require(loops.count(loop), std::string("has no loop ") + loop);
    row = loops[tile_row_loop];
    column = loops[tile_column_loop];
    const auto along_depth = loops.find(tile_depth_loop);
    if (along_depth != loops.end()) depth = along_depth->second;
}

void TileLoops::require(bool condition, const std::string &what) const {
    _halide_user_assert(condition) << "tile product " << outermost->name << " " << what << ":\n" << Stmt(outermost);
}

Expr TileLoops::at_first_turn(const Expr &index) const {
    std::vector<std::string> variables;
    for (const auto &[kind, name] : loops) variables.push_back(name);
    return at_origin(index, variables);
}

Expr TileLoops::any_step(const Expr &index, const std::string &variable) const {
    const Expr difference = any_step_of(index, variable);
    for (const auto &[kind, name] : loops)
        require(!expr_uses_var(difference, name), "has an index that is not linear in " + variable);
    return difference;
}

int64_t TileLoops::step(const Expr &index, const std::string &variable) const {
    const auto constant = as_const_int(any_step(index, variable));
    require(constant.has_value(), "has an index that does not grow by a constant with " + variable);
    return *constant;
}

} // namespace gyre
