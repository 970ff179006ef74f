# Cortex-M55 with MVE, vectors of four, as on qemu's board mps3-an547.
set(GYRE_CORTEX cortex-m55)
set(GYRE_CORTEX_FPU auto)
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
