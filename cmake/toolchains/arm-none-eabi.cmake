# What the Cortex-M and Cortex-A32 toolchains share: Debian's bare-metal compiler (gcc-arm-none-eabi), without its C library.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR ${GYRE_CORTEX})
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-ffreestanding -mthumb -mcpu=${GYRE_CORTEX} -mfpu=${GYRE_CORTEX_FPU} -mfloat-abi=hard")
set(CMAKE_ASM_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -static")
