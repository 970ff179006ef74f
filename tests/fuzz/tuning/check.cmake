# Reads FILE as the build reads tuning files, in a process of its own:   cmake -DROOT=… -DFILE=… -P check.cmake
cmake_minimum_required(VERSION 3.28)
set(GYRE_GENERATORS_DIR "${ROOT}/generators")
list(APPEND CMAKE_MODULE_PATH "${ROOT}/cmake")
include("${ROOT}/cmake/GyreTargets.cmake")
include("${ROOT}/cmake/GyreKnobs.cmake")
gyre_check_tuning("${FILE}")
gyre_read_knobs("${FILE}" x86_64_avx2 attention plain_f32_d64 knobs evidence)
message(STATUS "read")
