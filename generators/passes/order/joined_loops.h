/// Two loops over the same places as one.
#pragma once
#include <Halide.h>

#include <string>

namespace gyre {

/// What the loop of `formed` does in each turn is done at the begin of the turns of the loop of `used`, which comes later, has as many turns, and reads in
/// a turn what was formed in this turn and before: what it forms is still in registers. Loops over `row` around both are one as well.
/// Stops the build where there are no such loops.
void join_loops(Halide::Internal::GeneratorBase &generator, const std::string &formed, const std::string &used,
                const std::string &row);

} // namespace gyre
