# gyre_embedded is compiled where no header of a C library can be read, as by a cross compiler that was installed without one:
#
#     cmake -D ROOT=<sources> -D BUILD=<scratch directory> -D GENERATOR=<name> -D MAKE=… -D CC=<compiler> -D PYTHON=…
#           -D HALIDE=<Halide_DIR> -D HELPERS=<HalideHelpers_DIR> -D GENERATORS=… -P headers_test.cmake
file(REMOVE_RECURSE "${BUILD}")
execute_process(COMMAND "${CC}" -print-file-name=include OUTPUT_VARIABLE own OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${ROOT}/runtime/embedded" -B "${BUILD}" -G "${GENERATOR}"
                        "-DCMAKE_MAKE_PROGRAM=${MAKE}" "-DCMAKE_C_COMPILER=${CC}" "-DPython3_EXECUTABLE=${PYTHON}"
                        "-DHalide_DIR=${HALIDE}" "-DHalideHelpers_DIR=${HELPERS}" "-DGYRE_GENERATORS=${GENERATORS}"
                        "-DCMAKE_C_FLAGS=-ffreestanding -nostdinc -isystem ${own} -idirafter ${CMAKE_CURRENT_LIST_DIR}/hosted"
                        -DGYRE_EMBEDDED_TESTS=OFF -DGYRE_EMBEDDED_DTYPES=f32 -DGYRE_EMBEDDED_HEAD_DIMS=16
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" COMMAND_ERROR_IS_FATAL ANY)
