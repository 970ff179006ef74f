# Builds an example against the installed package, and runs it:
#
#     cmake -D EXAMPLE=<folder> -D PREFIX=<installed package> -D WORK=<scratch directory> -D GENERATOR=<name> -D PYTHON=<that has
#           Halide> -D GENERATORS=<folder of their programs> [-D TOOLCHAIN=<file> -D TOOLS=<programs that it takes> -D RUN=<emulator>] -P examples_test.cmake
#
# Prints "skipped: …" where a program for the toolchain is missing.
include("${CMAKE_CURRENT_LIST_DIR}/../tools.cmake")
skip_without("cmake/go arm or bare" ${TOOLS})
file(REMOVE_RECURSE "${WORK}")
set(options "-DCMAKE_PREFIX_PATH=${PREFIX}" -DCMAKE_BUILD_TYPE=Release "-DPython3_EXECUTABLE=${PYTHON}"
            "-DGYRE_GENERATORS=${GENERATORS}")
if (TOOLCHAIN)
    list(APPEND options --toolchain "${TOOLCHAIN}" -DCMAKE_UNITY_BUILD=ON) # the runtime is compiled for it
endif ()
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/${EXAMPLE}" -B "${WORK}" -G "${GENERATOR}" ${options}
                ERROR_VARIABLE said COMMAND_ERROR_IS_FATAL ANY COMMAND_ECHO STDOUT ECHO_ERROR_VARIABLE)
if (said MATCHES "CMake Warning at")
    message(FATAL_ERROR "a warning in an example")
endif ()
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}" --parallel COMMAND_ERROR_IS_FATAL ANY)
if (EXISTS "${WORK}/example")
    execute_process(COMMAND ${RUN} "${WORK}/example" COMMAND_ERROR_IS_FATAL ANY)
elseif (NOT EXAMPLE STREQUAL "microcontroller")
    message(FATAL_ERROR "${EXAMPLE} has built no program")
endif ()
