# Every machine that kernels are made for. The one place a target is defined; a new one is one row (and a toolchain if it is
# cross-compiled).
#
#   gyre_add_target(<name> ARCH <processor> HALIDE <Halide target> FEATURES <what the machine must have>)
#
# Order matters: best first. The registry keeps it and dispatch takes the first that runs. The last row of an architecture
# asks for nothing. FEATURES are names that runtime/cpu_features.cpp probes.

set(GYRE_KNOWN_TARGETS "")
macro(gyre_add_target name)
    cmake_parse_arguments(arg "" "ARCH;HALIDE" "FEATURES" ${ARGN})
    list(APPEND GYRE_KNOWN_TARGETS ${name})
    set(GYRE_TARGET_${name}_ARCH "${arg_ARCH}")
    set(GYRE_TARGET_${name}_HALIDE "${arg_HALIDE}")
    set(GYRE_TARGET_${name}_FEATURES "${arg_FEATURES}")
endmacro()

gyre_add_target(x86_64_avx512  ARCH x86_64
                HALIDE x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake
                FEATURES avx2 fma f16c avx512f avx512cd avx512bw avx512dq avx512vl)
gyre_add_target(x86_64_avx2    ARCH x86_64
                HALIDE x86-64-linux-sse41-avx-f16c-fma-avx2
                FEATURES avx2 fma f16c)
gyre_add_target(x86_64_generic ARCH x86_64
                HALIDE x86-64-linux)

set(known_here "")
foreach (target IN LISTS GYRE_KNOWN_TARGETS)
    if (GYRE_TARGET_${target}_ARCH STREQUAL CMAKE_SYSTEM_PROCESSOR)
        list(APPEND known_here ${target})
    endif ()
endforeach ()
set(GYRE_TARGETS "${known_here}" CACHE STRING "Targets to make kernels for")
foreach (target IN LISTS GYRE_TARGETS)
    if (NOT target IN_LIST known_here)
        list(JOIN known_here ", " valid)
        message(FATAL_ERROR "GYRE_TARGETS: ${target} is not a target of ${CMAKE_SYSTEM_PROCESSOR}; known: ${valid}")
    endif ()
endforeach ()

# gyre_write_target_list(<file>): the rows of this architecture as C++, best first.
function(gyre_write_target_list file)
    set(rows "")
    foreach (target IN LISTS GYRE_KNOWN_TARGETS)
        if (GYRE_TARGET_${target}_ARCH STREQUAL CMAKE_SYSTEM_PROCESSOR)
            list(JOIN GYRE_TARGET_${target}_FEATURES " " features)
            string(APPEND rows "{\"${target}\", \"${features}\"},\n")
        endif ()
    endforeach ()
    file(CONFIGURE OUTPUT "${file}" CONTENT "${rows}")
endfunction()
