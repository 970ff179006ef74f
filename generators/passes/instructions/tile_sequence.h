/// Statements one after the other, in which products on matrix tiles (tile_products.h) that follow each other load an operand
/// that they share once.
#pragma once
#include <Halide.h>

#include <string>
#include <vector>

namespace gyre {

/// The call of a mapped tile product, tile store … that `s` is; nullptr: it is none of this name.
const Halide::Internal::Call *tile_call(const Halide::Internal::Stmt &s, const char *name);

class TileSequence {
public:
    /// The products whose operands another may share: all of them since the last other statement (in_a_row), or those of the last
    /// product alone, even with other statements between (with_last), which holds fewer tile registers.
    enum class Shared { in_a_row, with_last };
    explicit TileSequence(Shared shared) : shared(shared) {}

    void add(const Halide::Internal::Stmt &s);
    Halide::Internal::Stmt statement() const;

private:
    struct Step {
        std::string name; // of a loaded operand; empty: a statement
        Halide::Expr value;
        Halide::Internal::Stmt statement;
    };
    struct Loaded {
        Halide::Expr value;
        std::string name;
    };
    const Shared shared;
    std::vector<Step> steps;
    std::vector<Loaded> loaded;

    Halide::Expr load(const Halide::Expr &operand, const std::vector<Loaded> &before);
};

} // namespace gyre
