# 32-bit ARM Linux, hard float.
set(CMAKE_SYSTEM_PROCESSOR armv7)
set(GYRE_TRIPLE arm-linux-gnueabihf)
set(GYRE_EMULATOR qemu-arm)
include("${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake")
