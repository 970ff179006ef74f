/// Turns of a loop that depend on nothing of each other, computed side by side.
#pragma once
#include <Halide.h>

namespace gyre {

/// Does what `loop` does, `count` turns at a time: what a turn allocates is there for each of them, and loops inside of equal bounds are one loop
/// for all. So as many sums are under way at once. What remains at the end is done turn by turn. Turns write no place that others read or write,
/// but for what each allocates.
Halide::Internal::Stmt take_turns_together(const Halide::Internal::For *loop, int count);

} // namespace gyre
