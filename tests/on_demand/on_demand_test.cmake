# Builds and runs a downstream project that has kernels made for it:
#
#     cmake -D PROJECT=<score, libraries or small> -D WORK=<scratch directory> -D GENERATOR=<name> [-D PREFIX=<installed package>]
#           [-D SOURCE=<clone of gyre>] [-D TOOLCHAIN=<file>] [-D GENERATORS=<folder of their programs>] [-D HOST_CXX=<that compiles them else>]
#           [-D MOST_BYTES=<of the program small>]
#           -P on_demand_test.cmake
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
    if (NOT MOST_BYTES) # the linker takes whole objects
        list(APPEND options -DCMAKE_UNITY_BUILD=ON)
    endif ()
endif ()
if (GENERATORS)
    list(APPEND options "-DGYRE_GENERATORS=${GENERATORS}")
elseif (HOST_CXX) # generators are as quick without optimisation, and compiled in half the time
    set(host_cxx "${WORK}/host_cxx")
    file(WRITE "${host_cxx}" "#!/bin/sh\nexec '${HOST_CXX}' \"$@\" -O0\n")
    file(CHMOD "${host_cxx}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    list(APPEND options "-DGYRE_HOST_CXX=${host_cxx}")
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
foreach (program IN ITEMS "on_demand" "small" "with_runtime;${own}" "with_gyre;${own},gyre" "with_shared;${own},gyre")
    list(GET program 0 name)
    if (EXISTS "${WORK}/${name}")
        list(POP_FRONT program)
        run("running ${name}" ${emulator} "${WORK}/${name}" ${program})
        message(STATUS "${output}")
        set(ran TRUE)
    endif ()
endforeach ()
if (MOST_BYTES)
    file(SIZE "${WORK}/small" bytes)
    message(STATUS "small: ${bytes} of ${MOST_BYTES} bytes")
    if (bytes GREATER MOST_BYTES)
        message(FATAL_ERROR "small has ${bytes} bytes, more than ${MOST_BYTES}")
    endif ()
endif ()
if (NOT ran)
    message(FATAL_ERROR "nothing was built that could be run")
endif ()
