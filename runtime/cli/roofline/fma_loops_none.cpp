#if !defined(__x86_64__) && !defined(__aarch64__)
#include "fma_loops.h"

namespace gyre::roofline {

FmaLoop fma_loop(InstructionSet) { return {}; }

} // namespace gyre::roofline
#endif
