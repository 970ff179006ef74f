# Builds and runs a downstream project that has kernels made for it:
#
#     cmake -D PROJECT=<score or libraries> -D WORK=<scratch directory> -D GENERATOR=<name> [-D PREFIX=<installed package>]
#           [-D SOURCE=<clone of gyre>] [-D TOOLCHAIN=<file>] [-D GENERATORS=<folder of their programs>] -P on_demand_test.cmake
#
# With PREFIX it finds the package; with SOURCE it adds gyre as a subdirectory. Prints "skipped: …" where there is no compiler
# or emulator for the TOOLCHAIN.

function(run what)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if (NOT result EQUAL 0)
        message(FATAL_ERROR "${what} failed (${result}):\n${output}")
    endif ()
    message(STATUS "${what}: done")
    set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(options "-DCMAKE_PREFIX_PATH=${PREFIX}" -DCMAKE_BUILD_TYPE=Release)
set(emulator "")
if (SOURCE)
    list(APPEND options "-DGYRE_SOURCE=${SOURCE}")
endif ()
if (GENERATORS)
    list(APPEND options "-DGYRE_GENERATORS=${GENERATORS}")
endif ()
if (TOOLCHAIN)
    list(APPEND options "-DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN}")
    include("${TOOLCHAIN}")
    set(emulator ${CMAKE_CROSSCOMPILING_EMULATOR})
    string(REGEX MATCH "qemu-[a-z0-9]+" emulating "${CMAKE_CROSSCOMPILING_EMULATOR}")
    include("${CMAKE_CURRENT_LIST_DIR}/../tools.cmake")
    skip_without("cmake/go arm" "${CMAKE_CXX_COMPILER}" "${emulating}")
endif ()
string(TIMESTAMP begin "%s")
run("configuring" "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/${PROJECT}" -B "${WORK}" -G "${GENERATOR}" ${options})
run("building" "${CMAKE_COMMAND}" --build "${WORK}" --parallel)
string(TIMESTAMP end "%s")
math(EXPR seconds "${end} - ${begin}")
message(STATUS "configured and built in ${seconds} s")

set(own "first_kernels,second_kernels")
foreach (program IN ITEMS "on_demand" "with_runtime;${own}" "with_gyre;${own},gyre" "with_shared;${own},gyre")
    list(GET program 0 name)
    if (EXISTS "${WORK}/${name}")
        list(POP_FRONT program)
        run("running ${name}" ${emulator} "${WORK}/${name}" ${program})
        message(STATUS "${output}")
        set(ran TRUE)
    endif ()
endforeach ()
if (NOT ran)
    message(FATAL_ERROR "nothing was built that could be run")
endif ()
