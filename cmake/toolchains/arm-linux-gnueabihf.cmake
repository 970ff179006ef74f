# 32-bit ARM Linux, hard float.
set(CMAKE_SYSTEM_PROCESSOR armv7)
set(GYRE_TRIPLE arm-linux-gnueabihf)
# A stack of 1 GiB stands where a 32-bit kernel has its own addresses: programs lie below 3 GiB, as AddressSanitizer expects, and
# have 2 GiB; with qemu's own stack they have less than 1 GiB, and what is mapped after that ends up above 3 GiB.
set(GYRE_EMULATOR qemu-arm -s 1073741824)
include("${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake")
