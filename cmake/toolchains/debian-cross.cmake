# What the toolchains of other Linux machines share: Debian's cross compiler (g++-<triple>); programs run here under qemu
# (qemu-user).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${GYRE_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${GYRE_TRIPLE}-g++)
# Sanitizers cannot look for leaks under an emulator, where walking the stack at each allocation would take most of a test's time.
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/env ASAN_OPTIONS=detect_leaks=0:malloc_context_size=1 ${GYRE_EMULATOR} -L /usr/${GYRE_TRIPLE})
set(CMAKE_FIND_ROOT_PATH /usr/${GYRE_TRIPLE})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
