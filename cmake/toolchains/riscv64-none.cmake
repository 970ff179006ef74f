# 64-bit RISC-V with double-precision floating point, as on qemu's board virt.
set(CMAKE_SYSTEM_PROCESSOR riscv64-none)
set(GYRE_RISCV rv64imafdc)
set(GYRE_RISCV_ABI lp64d)
include("${CMAKE_CURRENT_LIST_DIR}/riscv64-unknown-elf.cmake")
