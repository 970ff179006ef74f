/// Merging: HOW it is computed. One function per machine class.
#pragma once
#include "merge_algorithm.h"

namespace gyre::merge {

/// `parts`, `tokens`: extents of p and i.
void schedule_cpu(Stages &s, const Halide::Expr &parts, const Halide::Expr &tokens, int lanes);

/// `z`: the batch entries, of everything.
void schedule_cuda(Stages &s, const Halide::Var &z);

} // namespace gyre::merge
