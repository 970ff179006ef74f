/// Elements that are not dense in memory, taken from the vectors of which they are.
#pragma once
#include <Halide.h>
#include <set>
#include <string>

namespace gyre {

/// Where vectors of such elements are loaded, loads registers and shuffles them: compilers load element by element. Of the
/// allocations `small`, which are kept in registers, any elements whose places are constant; of those in `transposed` such
/// at a distance from each other, of rows that are whole registers. What cannot be read so is an error.
Halide::Internal::Stmt read_whole_vectors(const Halide::Internal::Stmt &body, const std::set<std::string> &small,
                                          const std::set<std::string> &transposed);

} // namespace gyre
