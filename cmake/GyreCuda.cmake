# CUDA: the compiler, and what its kernels are made of beside Halide's object.
#
#   GYRE_CUDA            OFF, AUTO (default: if nvcc is found), ON (stops without it)
#   GYRE_CUDA_COMPILER   nvcc, 12 or later
#   GYRE_CUDA_ARCHS      compute capabilities to make machine code for; the last also as PTX, for newer devices
set(GYRE_CUDA AUTO CACHE STRING "Kernels for CUDA: OFF, AUTO (if nvcc is found) or ON")
set(GYRE_CUDA_ARCHS 80 86 89 90 CACHE STRING "Compute capabilities to make CUDA machine code for; the last also as PTX")

if (GYRE_CUDA)
    find_program(GYRE_CUDA_COMPILER nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin
                 NO_CMAKE_FIND_ROOT_PATH DOC "CUDA compiler")
    if (NOT GYRE_CUDA_COMPILER AND NOT GYRE_CUDA STREQUAL "AUTO")
        message(FATAL_ERROR "gyre: GYRE_CUDA is ${GYRE_CUDA}, but no nvcc was found; name one in GYRE_CUDA_COMPILER")
    endif ()
endif ()
set(gyre_has_cuda FALSE)
if (GYRE_CUDA AND GYRE_CUDA_COMPILER)
    set(gyre_has_cuda TRUE)
endif ()
get_property(gyre_told_of_cuda GLOBAL PROPERTY GYRE_TOLD_OF_CUDA)
if (NOT gyre_told_of_cuda)
    if (gyre_has_cuda)
        message(STATUS "gyre: CUDA kernels, by ${GYRE_CUDA_COMPILER}")
    else ()
        message(STATUS "gyre: no CUDA kernels (GYRE_CUDA is ${GYRE_CUDA}, nvcc: ${GYRE_CUDA_COMPILER})")
    endif ()
    set_property(GLOBAL PROPERTY GYRE_TOLD_OF_CUDA TRUE)
endif ()

# gyre_make_image(<symbol> <folder>): from <folder>/<symbol>.cu, <folder>/<symbol>.image.o, which holds its machine code under
# the name <symbol>_image.
function(gyre_make_image symbol folder)
    set(archs "")
    foreach (arch IN LISTS GYRE_CUDA_ARCHS)
        list(APPEND archs -gencode "arch=compute_${arch},code=sm_${arch}")
    endforeach ()
    list(GET GYRE_CUDA_ARCHS -1 newest)
    list(APPEND archs -gencode "arch=compute_${newest},code=compute_${newest}")
    set(header "${GYRE_GENERATORS_DIR}/cuda/device")
    gyre_find_host_compiler(compiler)
    add_custom_command(
        OUTPUT "${folder}/${symbol}.image.o" "${folder}/${symbol}.fatbin"
        COMMAND "${GYRE_CUDA_COMPILER}" -ccbin "${compiler}" -std=c++17 -O3 -fatbin ${archs} -diag-suppress 177
                "-I${header}" "${folder}/${symbol}.cu" -o "${folder}/${symbol}.fatbin"
        COMMAND "${CMAKE_C_COMPILER}" -c -fPIC "-DGYRE_IMAGE=${symbol}_image" "-DGYRE_FATBIN=\"${folder}/${symbol}.fatbin\""
                "${header}/image.S" -o "${folder}/${symbol}.image.o"
        DEPENDS "${folder}/${symbol}.cu" "${header}/gyre_device.h" "${header}/image.S"
        COMMENT "CUDA machine code of ${symbol}"
        VERBATIM)
endfunction()
