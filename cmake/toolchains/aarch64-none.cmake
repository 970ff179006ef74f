# 64-bit ARM without an operating system, by Debian's Linux cross compiler (gcc-aarch64-linux-gnu); programs run here in an
# emulated board (qemu-system-arm).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR aarch64-none)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-ffreestanding -mcpu=cortex-a53 -fno-stack-protector -fno-pie -mstrict-align")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -static -no-pie")
