# Cortex-A32, 32-bit ARM with vectors of four (NEON), without an operating system. qemu has no such processor: it runs on `max`.
set(GYRE_CORTEX cortex-a32)
set(GYRE_CORTEX_FPU neon-fp-armv8)
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
