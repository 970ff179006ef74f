/// Loops whose body should not be formed from one turn to the next.
#pragma once
#include <Halide.h>
#include <string>

namespace gyre {

/// Hides from the compiler that the variable of the loops over `variable` grows from turn to turn: it would carry much of what a large body
/// forms from it from one turn to the next, each in memory, which loops that mostly run once pay for. `zero`: a scalar argument that
/// every caller sets to 0.
void hide_loop_variable(Halide::Internal::GeneratorBase &generator, const std::string &variable,
                        const Halide::Expr &zero);

} // namespace gyre
