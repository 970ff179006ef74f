# Cortex-M52 with MVE: everything is Cortex-M55's, whose instructions it has, since gcc 12 does not know it; LLVM makes the same code of kernels
# for either.
include("${CMAKE_CURRENT_LIST_DIR}/cortex-m55.cmake")
