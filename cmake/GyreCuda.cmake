# CUDA: the compiler, and what its kernels are made of beside Halide's object.
#
#   GYRE_CUDA            OFF, AUTO (default: if an nvcc is found that works here, and it is not for another machine that is built), ON (stops
#                        without it; the host may be 64-bit ARM, also cross-compiled)
#   GYRE_CUDA_COMPILER   nvcc; 13 was used
#   GYRE_CUDA_ARCHS      compute capabilities to make machine code for; the last also as PTX, which the driver compiles for newer
#                        devices when a kernel is loaded. Default 80, which the tests look at; "80;90" saves a Hopper that work
set(GYRE_CUDA AUTO CACHE STRING "Kernels for CUDA: OFF, AUTO (if nvcc is found) or ON")
# Devices of one generation run the machine code of its first: 8.6 and 8.9 that of 8.0.
set(GYRE_CUDA_ARCHS 80 CACHE STRING "Compute capabilities to make CUDA machine code for; the last also as PTX")

#   GYRE_CUDA_HOPPER     ON: also the target cuda_90a, whose plain attention multiplies by wgmma; off where nvcc is older than 12
option(GYRE_CUDA_HOPPER "The target cuda_90a: attention by wgmma" ON)

#   GYRE_CUDA_WITHOUT_IMAGE  regular expression; CUDA kernels of a name that it matches have no machine code: they run emulated alone
set(GYRE_CUDA_WITHOUT_IMAGE "" CACHE STRING "Regular expression: names of CUDA kernels that get no machine code")

# gyre_cuda_flags(<out> [<target>]): what to make code for, and the host compiler, without which nvcc reads no headers.
function(gyre_cuda_flags out)
    gyre_find_host_compiler(compiler)
    set(flags -std=c++17 -O3 -fatbin -ccbin "${compiler}")
    set(only "${GYRE_TARGET_${ARGN}_ARCH_OF_DEVICE}")
    if (ARGN AND only)
        set(${out} ${flags} -gencode "arch=compute_${only},code=sm_${only}" PARENT_SCOPE)
        return()
    endif ()
    foreach (arch IN LISTS GYRE_CUDA_ARCHS)
        list(APPEND flags -gencode "arch=compute_${arch},code=sm_${arch}")
    endforeach ()
    list(GET GYRE_CUDA_ARCHS -1 newest)
    list(APPEND flags -gencode "arch=compute_${newest},code=compute_${newest}")
    set(${out} ${flags} PARENT_SCOPE)
endfunction()

# gyre_find_cuda(<why>): finds nvcc and tries it, once a compiler; <why> it cannot be used, or "".
function(gyre_find_cuda why)
    set(${why} "" PARENT_SCOPE)
    find_program(GYRE_CUDA_COMPILER nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin
                 NO_CMAKE_FIND_ROOT_PATH DOC "CUDA compiler")
    if (NOT GYRE_CUDA_COMPILER)
        set(${why} "there is no nvcc; GYRE_CUDA_COMPILER may name one" PARENT_SCOPE)
    elseif (NOT GYRE_CUDA_TRIED STREQUAL "${GYRE_CUDA_COMPILER};${GYRE_CUDA_ARCHS}")
        set(probe "${CMAKE_BINARY_DIR}/CMakeFiles/gyre_cuda_probe")
        file(WRITE "${probe}.cu" "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\nextern \"C\" __global__ void probe() {}\n")
        gyre_cuda_flags(flags)
        execute_process(COMMAND "${GYRE_CUDA_COMPILER}" ${flags} "${probe}.cu" -o "${probe}.fatbin"
                        RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
        if (failed)
            string(STRIP "${said}" said)
            set(${why} "${GYRE_CUDA_COMPILER} fails: ${said}" PARENT_SCOPE)
            return()
        endif ()
        if (GYRE_CUDA_HOPPER)
            execute_process(COMMAND "${GYRE_CUDA_COMPILER}" ${flags} -gencode arch=compute_90a,code=sm_90a "${probe}.cu" -o "${probe}.fatbin"
                            RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
            if (failed)
                message(STATUS "gyre: no target cuda_90a, which ${GYRE_CUDA_COMPILER} does not know (GYRE_CUDA_HOPPER)")
                set(GYRE_CUDA_HOPPER OFF CACHE BOOL "The target cuda_90a: attention by wgmma" FORCE)
            endif ()
        endif ()
        execute_process(COMMAND "${GYRE_CUDA_COMPILER}" --version OUTPUT_VARIABLE version)
        string(MD5 version "${version}")
        set(GYRE_CUDA_VERSION "${version}" CACHE INTERNAL "which release of the compiler it is")
        set(GYRE_CUDA_TRIED "${GYRE_CUDA_COMPILER};${GYRE_CUDA_ARCHS}" CACHE INTERNAL "what was found to work")
    endif ()
endfunction()

set(gyre_has_cuda FALSE)
set(gyre_cuda_why "GYRE_CUDA is ${GYRE_CUDA}")
set(gyre_cuda_needs nvcc)
if (GYRE_CUDA AND (CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" OR (CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64" AND
                                                               NOT (CMAKE_CROSSCOMPILING AND GYRE_CUDA STREQUAL "AUTO"))))
    get_property(gyre_is_package GLOBAL PROPERTY GYRE_RUNTIME_KNOWS_CUDA SET)
    get_property(gyre_runtime_knows_cuda GLOBAL PROPERTY GYRE_RUNTIME_KNOWS_CUDA)
    if (gyre_is_package AND NOT gyre_runtime_knows_cuda)
        set(gyre_cuda_why "the installed one was built without CUDA")
        set(gyre_cuda_needs "a library that knows CUDA")
    else ()
        gyre_find_cuda(gyre_cuda_why)
    endif ()
    if (NOT gyre_cuda_why)
        set(gyre_has_cuda TRUE)
    elseif (NOT GYRE_CUDA STREQUAL "AUTO")
        message(FATAL_ERROR "gyre: GYRE_CUDA is ${GYRE_CUDA}, but ${gyre_cuda_why}")
    endif ()
    get_property(gyre_told_of_cuda GLOBAL PROPERTY GYRE_TOLD_OF_CUDA)
    if (gyre_has_cuda AND NOT gyre_told_of_cuda)
        message(STATUS "gyre: CUDA kernels, by ${GYRE_CUDA_COMPILER}")
    elseif (NOT gyre_told_of_cuda)
        message(STATUS "gyre: no CUDA kernels: ${gyre_cuda_why}")
    endif ()
    set_property(GLOBAL PROPERTY GYRE_TOLD_OF_CUDA TRUE)
endif ()

# gyre_make_image(<symbol> <folder> [<target>]): from <folder>/<symbol>.cu, <folder>/<symbol>.image.o, which holds its machine code under
# the name <symbol>_image.
function(gyre_make_image symbol folder)
    gyre_cuda_flags(flags ${ARGN})
    set(header "${GYRE_GENERATORS_DIR}/passes/cuda/device")
    set(source "${folder}/${symbol}.cu")
    if (GYRE_CUDA_WITHOUT_IMAGE AND symbol MATCHES "${GYRE_CUDA_WITHOUT_IMAGE}")
        add_custom_command(
            OUTPUT "${folder}/${symbol}.image.o"
            COMMAND "${CMAKE_C_COMPILER}" -c -fPIC "-DGYRE_IMAGE=${symbol}_image" "${header}/no_image.S" -o "${folder}/${symbol}.image.o"
            DEPENDS "${source}" "${header}/no_image.S"
            COMMENT "no CUDA machine code of ${symbol}"
            VERBATIM)
        return()
    endif ()
    set(outputs "${folder}/${symbol}.image.o" "${folder}/${symbol}.fatbin")
    set(included "${header}/gyre_device.h" "${header}/gyre_warp.h" "${header}/gyre_guard.h" "${header}/gyre_rows.h" "${header}/gyre_fma.h"
                 "${header}/image.S")
    set(host "")
    if (NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
        set(host " for ${CMAKE_SYSTEM_PROCESSOR}")
    endif ()
    if (GYRE_TARGET_${ARGN}_ARCH_OF_DEVICE)
        list(APPEND included "${header}/gyre_warpgroup.h" "${header}/gyre_swizzle.h" "${header}/gyre_rings.h")
    endif ()
    add_custom_command(
        OUTPUT ${outputs}
        COMMAND "${CMAKE_COMMAND}" -D "KEY=${symbol} ${flags} ${GYRE_CUDA_VERSION}${host}" -D "KEY_FILES=${source};${included}"
                -D "OUTPUTS=${outputs}" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cached_command.cmake" --
                "${GYRE_CUDA_COMPILER}" ${flags} -diag-suppress 177,550 "-I${header}" "${source}" -o "${folder}/${symbol}.fatbin"
                --then "${CMAKE_C_COMPILER}" -c -fPIC "-DGYRE_IMAGE=${symbol}_image"
                "-DGYRE_FATBIN=\"${folder}/${symbol}.fatbin\"" "${header}/image.S" -o "${folder}/${symbol}.image.o"
        DEPENDS "${source}" ${included}
        COMMENT "CUDA machine code of ${symbol}"
        VERBATIM)
endfunction()
