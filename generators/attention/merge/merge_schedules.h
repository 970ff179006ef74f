/// Merging: HOW it is computed. One function per machine class.
#pragma once
#include "merge_algorithm.h"

namespace gyre::merge {

void schedule_cpu(Stages &s, int lanes);

/// `z`: the batch entries, of everything.
void schedule_cuda(Stages &s, const Halide::Var &z);

} // namespace gyre::merge
