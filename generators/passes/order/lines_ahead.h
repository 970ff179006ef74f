/// Lines of the cache that are asked for before they are read, where they are found by a table.
#pragma once
#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

namespace gyre {

/// The line of 64 bytes that element `element` of a row is in. Row n begins at element offsets(n, …) of a tensor; `offsets` is
/// int32, from 0 on along its first dimension, and computed outside of the loop that asks.
struct LineAhead {
    Halide::Func offsets;
    Halide::Expr row, element;
};

/// The lines of the first `elements` elements of `count` rows from row `first` on, which are found as those of LineAhead. They are asked for in
/// a loop.
struct RowsAhead {
    Halide::Func offsets;
    Halide::Expr first, count;
    int elements;
};

/// What a turn of a loop asks for, if `where` holds.
struct Asked {
    std::vector<LineAhead> lines;
    Halide::Expr where = Halide::Internal::const_true();
    std::vector<RowsAhead> rows = {};
    std::vector<Halide::Expr> places = {}; // elements of the tensor, counted from its first, whose lines are asked for
};

/// The value of an enclosing loop, by the name of its variable, which a split, a reduction or a pure dimension gave it.
using LoopValues = std::function<Halide::Expr(const std::string &)>;

/// Each turn of `loop` of `of` first asks for `lines` of `tensor`. Halide's prefetch() takes the bounds of what a loop reads,
/// which a table hides. `around`: only within a loop of that name; empty: anywhere.
void ask_ahead(Halide::Internal::GeneratorBase &generator, const Halide::Func &of, const std::string &loop,
               const Halide::OutputImageParam &tensor, const std::function<Asked(const LoopValues &)> &lines,
               const std::string &around = "");

/// Each vector of neighbours in `tensor` that the innermost loops of `of` read first asks for the line that is `distance` elements
/// further on. Such a place may lie outside of the tensor: asking reads nothing.
void ask_further_on(Halide::Internal::GeneratorBase &generator, const Halide::Func &of,
                    const Halide::OutputImageParam &tensor, const Halide::Expr &distance);

} // namespace gyre
