/// Merging: HOW it is computed. One function per machine class.
#pragma once
#include "merge_algorithm.h"

namespace gyre::merge {

void schedule_cpu(Stages &s, int lanes);

constexpr int parts_at_once = 8; // on CUDA, where each load takes long
/// `z`: the batch entries, of everything.
void schedule_cuda(Stages &s, const Halide::Var &z);

} // namespace gyre::merge
