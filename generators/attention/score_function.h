/// The score function that this generator was compiled with.
#pragma once
#include "score.h"

namespace gyre {

/// Its name, the file's without folder and extension; "": the generator was compiled without one.
std::string compiled_score_name();

/// Calls it for the sake of what it asks `inputs` for. In configure().
void declare_score_inputs(ScoreInputs &inputs);

/// Calls it. The result is f32.
Halide::Expr compiled_score(const ScorePoint &point, ScoreInputs &inputs);

} // namespace gyre
