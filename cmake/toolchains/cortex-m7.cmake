# Cortex-M7 with single-precision floating point, as on qemu's board mps2-an500.
set(GYRE_CORTEX cortex-m7)
set(GYRE_CORTEX_FPU fpv5-sp-d16)
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
