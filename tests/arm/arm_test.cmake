# Builds the library for ARM, with kernels of head size 64, and runs a part of its tests in an emulator: the ONNX node tests
# through the program, the C99 example, the count of instructions, and kernels' stack frames. Prints "skipped: …" where something is missing for that.

include("${TOOLCHAIN}")
string(REGEX MATCH "qemu-[a-z0-9]+" emulator "${CMAKE_CROSSCOMPILING_EMULATOR}")
include("${CMAKE_CURRENT_LIST_DIR}/../tools.cmake")
skip_without("cmake/go arm" "${CMAKE_CXX_COMPILER}" "${emulator}")

execute_process(COMMAND "${CMAKE_COMMAND}" -S "${ROOT}" -B "${BUILD}" -G "${GENERATOR}" "-DCMAKE_MAKE_PROGRAM=${MAKE}"
                        --toolchain "${TOOLCHAIN}" "-DPython3_EXECUTABLE=${PYTHON}" "-DHalide_DIR=${HALIDE}"
                        "-DHalideHelpers_DIR=${HELPERS}" "-DGYRE_GENERATORS=${GENERATORS}" -DGYRE_BUILD_TESTS=ON
                        -DGYRE_HEAD_DIMS=64 -DGYRE_DECODE_HEAD_DIMS=64 -DGYRE_PADDED_HEAD_DIMS=64
                        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG= # compiles quickly; kernels are the same
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" --parallel 2
                        --target gyre_cli gyre_c99 gyre_one_call gyre_block_counts
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --test-dir "${BUILD}" --output-on-failure --no-tests=error
                        --parallel 2 -R "^(onnx:.*|c99|instructions:.*|budgets:.*)$"
                COMMAND_ERROR_IS_FATAL ANY)
