# gyre_add_generator(<library> SOURCES <files> [GENERATOR <name>] [TARGETS <names>] [PARAMS <name=value>…]
#                    [KNOBS <file> [TUNING <files>]] [UNCHECKED] [STREAMING_STORES])
#
# Makes a library of a Halide generator of your own, when the project is built. The generator may use what is in generators/:
# the passes (matrix tiles, bfmmla, tensor cores, pipelining), the mathematics and storage types.
#
#     find_package(gyre REQUIRED)
#     gyre_add_generator(matmul SOURCES matmul_generator.cpp TARGETS x86_64_avx512_bf16 x86_64_avx2)
#     target_link_libraries(my_program PRIVATE matmul)
#
#     #include <passes/instructions/bf16_dot.h>              // in the generator
#     #include <matmul.h>                       // in the program
#     matmul__x86_64_avx2(NULL, &x, &w, &out);  // a function for each target; the first argument is Halide's user context
#
# matmul.h includes Halide's header of each target, and declares `matmul_kernels`, all of them best first, for gyre_choose_kernel()
# and gyre_run_kernel() of gyre/kernels.h, which take gyre::gyre or gyre::runtime, as kernels for cuda do. Kernels bring Halide's own runtime.
#
# SOURCES    the generator, C++17; each file is compiled for the machine that builds
# GENERATOR  the name that it was registered by; default: the library's
# TARGETS    rows of GyreTargets.cmake of the architecture that is compiled for, with an operating system; host: the best that
#            this machine can run (default, but `cpu` when cross-compiling); cpu: all but devices; all: also devices', where there is
#            an nvcc. For cuda the generator has a parameter device_code and ends with cuda::lower_to_cuda() (passes/cuda/lower.h)
# PARAMS     GeneratorParams that all targets have. The build stops at one that the generator does not have
# KNOBS      declares which GeneratorParams are knobs, in the format of generators/*/*_knobs.json: gyre tune <library> --build <build>/<library>
#            --tuning <folder> then searches them (bench/tune/README.md)
# TUNING     values of knobs, in the format of generators/tuning, under kernels.<library>
# UNCHECKED  without Halide's checks of arguments, which cost 40 ns a call
# STREAMING_STORES  on x86-64, what the kernel stores goes past the caches (streaming_stores.cmake)
#
# Needs Halide 21 on the machine that builds, see GyreHalide.cmake, and no other configuration to cross-compile.
# GYRE_LISTINGS=ON also leaves the lowered statement and the assembly of each target beside its header.

function(gyre_add_generator library)
    foreach (module IN ITEMS Checks Generators Cuda Targets Knobs Kernels)
        if (module STREQUAL "Knobs") # which needs what the targets have said
            get_property(GYRE_GENERATORS_DIR GLOBAL PROPERTY GYRE_GENERATORS_DIR)
            get_property(GYRE_INCLUDE_DIR GLOBAL PROPERTY GYRE_INCLUDE_DIR)
        endif ()
        include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/Gyre${module}.cmake")
    endforeach ()
    set(who "gyre_add_generator(${library})")
    set(lists SOURCES TARGETS PARAMS TUNING)
    set(values GENERATOR KNOBS)
    set(options UNCHECKED STREAMING_STORES)
    cmake_parse_arguments(PARSE_ARGV 1 arg "${options}" "${values}" "${lists}")
    set(keywords ${lists} ${values} ${options})
    list(JOIN keywords ", " valid)
    foreach (word IN LISTS ARGN) # which the list before it would take
        if (word MATCHES "^[A-Z][A-Z_]+$" AND NOT word IN_LIST keywords)
            message(FATAL_ERROR "${who}: ${word} is no keyword; valid: ${valid}")
        endif ()
    endforeach ()
    if (arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
        message(FATAL_ERROR "${who}: got ${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}, expected values after one of ${valid}")
    elseif (NOT library MATCHES "^[A-Za-z_][A-Za-z0-9_]*$" OR library STREQUAL "gyre")
        message(FATAL_ERROR "${who}: the name becomes part of symbols: expected letters, digits and _, and not gyre")
    elseif (TARGET ${library})
        message(FATAL_ERROR "${who}: ${library} is a target already: expected another name")
    elseif (NOT arg_SOURCES)
        message(FATAL_ERROR "${who}: no SOURCES, expected the C++ files of a Halide generator")
    elseif (arg_TUNING AND NOT arg_KNOBS)
        message(FATAL_ERROR "${who}: TUNING needs KNOBS, the file that declares them")
    elseif (CMAKE_SYSTEM_NAME STREQUAL "Generic")
        message(FATAL_ERROR "${who}: is for systems with threads and memory, CMAKE_SYSTEM_NAME is Generic")
    endif ()
    foreach (list IN ITEMS SOURCES KNOBS TUNING)
        gyre_find_files("${who}" ${list} arg_${list})
    endforeach ()
    foreach (parameter IN LISTS arg_PARAMS)
        if (NOT parameter MATCHES "^[A-Za-z_][A-Za-z0-9_.]*=.+$")
            message(FATAL_ERROR "${who}: PARAMS: got ${parameter}, expected name=value")
        endif ()
    endforeach ()
    if (NOT arg_GENERATOR)
        set(arg_GENERATOR "${library}")
    endif ()
    if (NOT arg_TARGETS)
        set(arg_TARGETS host)
        if (CMAKE_CROSSCOMPILING)
            set(arg_TARGETS cpu)
        endif ()
    endif ()
    gyre_find_targets(arg_TARGETS error)
    if (error)
        message(FATAL_ERROR "${who}: TARGETS: ${error}")
    endif ()
    if (arg_KNOBS)
        set_property(GLOBAL PROPERTY GYRE_KNOBS_FILE_${library} "${arg_KNOBS}")
        foreach (file IN LISTS arg_TUNING)
            gyre_check_tuning("${file}")
        endforeach ()
    endif ()

    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreHalide.cmake")
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreOwnGenerator.cmake")
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreOwnLists.cmake")
    gyre_require_own_generator(${library} "${arg_SOURCES}" program)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${library}")
    file(MAKE_DIRECTORY "${folder}")
    set(objects "")
    set(headers "")
    foreach (target IN LISTS arg_TARGETS)
        gyre_read_knobs("${arg_TUNING}" ${target} ${library} "" knobs evidence)
        gyre_make_own_object(${library} ${target} "${program}" "${arg_GENERATOR}" "${arg_PARAMS};${knobs}" made)
        list(APPEND objects ${made})
        list(APPEND headers "${folder}/${library}__${target}.h")
        list(JOIN arg_PARAMS " " parameters)
        list(JOIN knobs " " knobs)
        gyre_own_kernel_row(${library} ${target} "${parameters} ${knobs}" "${evidence}")
    endforeach ()
    gyre_report_unused_tuning("${who}" "${arg_TUNING}")
    gyre_write_own_list(${library} "${arg_TARGETS}" "${folder}")
    gyre_require_halide_runtime("${program}" runtime)
    gyre_write_own_recipes(${library} "${arg_TARGETS}" "${program}" "${arg_GENERATOR}" "${gyre_halide_shipped}"
                           "${CMAKE_BINARY_DIR}/gyre_generators/${runtime}.o")
    set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    set_source_files_properties("${folder}/${library}.c" PROPERTIES OBJECT_DEPENDS "${headers}")
    add_custom_target(${library}_kernels DEPENDS ${objects} ${headers})
    add_library(${library} STATIC "${folder}/${library}.c" ${objects})
    add_dependencies(${library} ${library}_kernels)
    find_package(Threads REQUIRED)
    get_target_property(halide_include Halide::Halide INTERFACE_INCLUDE_DIRECTORIES)
    target_include_directories(${library} PUBLIC "${folder}" "${GYRE_INCLUDE_DIR}")
    target_include_directories(${library} SYSTEM PUBLIC "${halide_include}")
    target_link_libraries(${library} PUBLIC ${runtime} Threads::Threads ${CMAKE_DL_LIBS})
    set_target_properties(${library} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
