# Builds gyre_embedded for a board and runs its tests there. Prints "skipped: …" where something is missing for that.

set(toolchain "")
if (NOT BOARD STREQUAL "host")
    set(toolchain --toolchain "${ROOT}/cmake/toolchains/${BOARD}.cmake")
    include("${ROOT}/cmake/toolchains/${BOARD}.cmake")
    set(tools "${CMAKE_C_COMPILER}" qemu-system-aarch64)
    if (BOARD MATCHES "^cortex-")
        set(tools "${CMAKE_C_COMPILER}" qemu-system-arm "llc-21|llc-22|llc-23")
    endif ()
    if (BOARD MATCHES "^(riscv[0-9]+)")
        set(tools "${CMAKE_C_COMPILER}" qemu-system-${CMAKE_MATCH_1} "llc-21|llc-22|llc-23")
    endif ()
    include("${CMAKE_CURRENT_LIST_DIR}/../tools.cmake")
    skip_without("cmake/go bare" ${tools})
endif ()

execute_process(COMMAND "${CMAKE_COMMAND}" -S "${ROOT}/runtime/embedded" -B "${BUILD}" -G "${GENERATOR}"
                        "-DCMAKE_MAKE_PROGRAM=${MAKE}" "-DPython3_EXECUTABLE=${PYTHON}" "-DHalide_DIR=${HALIDE}"
                        "-DHalideHelpers_DIR=${HELPERS}" "-DGYRE_GENERATORS=${GENERATORS}" ${toolchain}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${BUILD}" --verbose COMMAND_ERROR_IS_FATAL ANY)
