/// The loops around a product on matrix tiles, and how an index grows with them: what tile_nest.cpp reads operands by.
#pragma once
#include <Halide.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gyre {

/// True if `loop` has the name of one of a tile nest's loops.
bool is_tile_loop(const Halide::Internal::For *loop);

class TileLoops {
public:
    /// Goes down to the one store of the nest whose outermost loop is `outermost`. Another loop, other extents and a condition on one of
    /// these loops stop the build.
    explicit TileLoops(const Halide::Internal::For *outermost);

    std::string row, column, depth;                 // the loops' variables; no depth: ""
    const Halide::Internal::Store *store = nullptr; // in the innermost loop
    std::vector<Halide::Expr> conditions;           // under which the whole nest runs

    /// Stops the build unless `condition` holds; `what` ends a sentence about the nest.
    void require(bool condition, const std::string &what) const;

    /// The index in the first turn of all loops.
    Halide::Expr at_first_turn(const Halide::Expr &index) const;
    /// Returns by how much an index grows with a loop's variable, in all turns of the nest; it may depend on other loops.
    Halide::Expr any_step(const Halide::Expr &index, const std::string &variable) const;
    /// any_step() as a number; it stops the build where the step is no constant.
    int64_t step(const Halide::Expr &index, const std::string &variable) const;

private:
    const Halide::Internal::For *const outermost;
    std::map<std::string, std::string> loops; // kind of loop -> its variable
    Halide::Internal::Stmt innermost;
};

} // namespace gyre
