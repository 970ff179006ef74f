/// Elements that a loop would load or store again and again, though they are equal.
#pragma once
#include <Halide.h>

#include <set>
#include <string>

namespace gyre {

/// Elements of `allocation` that loops over `variable` load are equal in all turns when the loop begins: loads in its turns become loads of the
/// first turn's elements before it, so that what is formed of them is formed once. Stops the build if there is no such loop.
/// It is called before what gives the elements of Tuples one allocation.
void load_equal_elements_once(Halide::Internal::GeneratorBase &generator, const std::string &allocation,
                              const std::string &variable);

/// Elements of `allocations` that loops over `variable` load and store are equal in all turns, and nothing else reads those of other turns than 0: the last
/// turn alone forms and stores them, there, and all turns load what stood there before. Stops the build if no such loop stores any, or one does not
/// store all of them after each other. It is called before what gives the elements of Tuples one allocation, and before what takes loops apart.
void keep_equal_elements_once(Halide::Internal::GeneratorBase &generator, const std::set<std::string> &allocations,
                              const std::string &variable);

} // namespace gyre
