/// Merging: HOW it is computed. One function per machine class.
#pragma once
#include "merge_algorithm.h"

namespace gyre::merge {

void schedule_cpu(Stages &s, int lanes);

/// `z`: the batch entries, of everything. `few_rows`: rows are so few, and their parts so many, that several threads share those of a feature.
void schedule_cuda(Stages &s, const Halide::Var &z, bool few_rows);

} // namespace gyre::merge
