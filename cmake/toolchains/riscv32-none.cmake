# 32-bit RISC-V with single-precision floating point, as on qemu's board virt.
set(CMAKE_SYSTEM_PROCESSOR riscv32-none)
set(GYRE_RISCV rv32imafc)
set(GYRE_RISCV_ABI ilp32f)
set(GYRE_LINKER_FLAGS -m elf32lriscv) # ld's default is 64 bits
include("${CMAKE_CURRENT_LIST_DIR}/riscv64-unknown-elf.cmake")
