# Makes kernels for the sample and builds and runs it by the Makefile:
#   cmake -D WORK=… -D OPTIONS=<of cmake> -D MAKE=… -D FLAGS=… -D RUN=… -D CLOCK=<MHz>
#         [-D SCRIPT=<for the linker>] [-D TOOLS=<programs that it takes>] -P makefile_test.cmake
# Prints "skipped: …" where one of the TOOLS is missing.
include("${CMAKE_CURRENT_LIST_DIR}/../../tools.cmake")
skip_without("cmake/go bare" ${TOOLS})
file(REMOVE_RECURSE "${WORK}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/kernels" -B "${WORK}/kernels" ${OPTIONS}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/kernels" COMMAND_ERROR_IS_FATAL ANY)
list(FIND RUN -M at)
math(EXPR at "${at} + 1")
list(GET RUN ${at} machine)
set(script "")
if (SCRIPT)
    set(script "SCRIPT=${SCRIPT}")
endif ()
execute_process(COMMAND "${MAKE}" -f "${CMAKE_CURRENT_LIST_DIR}/Makefile" "GYRE=${WORK}/kernels/decode_kernels"
                        "MACHINE_FLAGS=${FLAGS}" "MACHINE=${machine}" "MHZ=${CLOCK}" ${script} run
                WORKING_DIRECTORY "${WORK}" COMMAND_ERROR_IS_FATAL ANY)
