# Cortex-M4 with single-precision floating point, as on qemu's board mps2-an386.
set(GYRE_CORTEX cortex-m4)
set(GYRE_CORTEX_FPU fpv4-sp-d16)
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
