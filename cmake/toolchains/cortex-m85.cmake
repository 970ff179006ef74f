# Cortex-M85 with MVE, vectors of four. C is compiled for Cortex-M55, whose instructions it has all, since gcc 12 does not know it; so qemu's
# board mps3-an547 runs its programs.
set(GYRE_CORTEX cortex-m85)
set(GYRE_CORTEX_OF_C cortex-m55)
set(GYRE_CORTEX_FPU auto)
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
