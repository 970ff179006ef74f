# Cortex-M33 with single-precision floating point and the DSP extension, as on qemu's board mps2-an505.
set(GYRE_CORTEX cortex-m33)
set(GYRE_CORTEX_FPU fpv5-sp-d16)
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
