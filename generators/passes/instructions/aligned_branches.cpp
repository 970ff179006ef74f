#include "aligned_branches.h"

#include <cstdlib>

namespace gyre {

// Halide 21 hands LLVM's options on by this variable alone.
void align_branches() { setenv("HL_LLVM_ARGS", "-x86-align-branch-boundary=64 -x86-align-branch=fused+jcc", 0); }

} // namespace gyre
