# Kernels for machines without an operating system: an object, a header with its numbers, a constant that describes it.
#
#   gyre_begin_embedded(<library> FOLDER <folder> TARGET <row of GyreTargets.cmake> [TUNING <files>])
#   gyre_add_embedded_kernel(<library> <operation> VARIANT <name> FIELDS <C initialisers> PARAMS <name=value>…)
#   gyre_end_embedded(<library>): adds the sources to the library, and FOLDER/gyre/embedded_kernels.h
#
# A kernel may call memory functions only: any other undefined symbol stops the build (embedded_kernel.cmake).

set(gyre_halide_embedded "-no_runtime-user_context-no_asserts-no_bounds_query")
set(gyre_embedded_scripts "${CMAKE_CURRENT_LIST_DIR}")

# Processors that run each target's kernels. A kernel for another one links without a word, and faults.
set(gyre_processors_of_cortex_m4 cortex-m4 cortex-m7 cortex-m33 cortex-m35p cortex-m52 cortex-m55 cortex-m85)
set(gyre_processors_of_cortex_m7 cortex-m7)
set(gyre_processors_of_cortex_m33 cortex-m33 cortex-m35p cortex-m52 cortex-m55 cortex-m85)
set(gyre_processors_of_cortex_m55 cortex-m55 cortex-m52 cortex-m85)
set(gyre_processors_of_cortex_m85 cortex-m85 cortex-m55) # without the pointer authentication that LLVM does not use here

function(gyre_check_processor_flags library target)
    set(processors "${gyre_processors_of_${target}}")
    if (processors AND CMAKE_C_FLAGS MATCHES "-mcpu=([a-z0-9-]+)" AND NOT CMAKE_MATCH_1 IN_LIST processors)
        list(JOIN processors ", " valid)
        message(FATAL_ERROR "gyre: ${library}: kernels for ${target} do not run on the compiler's -mcpu=${CMAKE_MATCH_1}; they run on: "
                            "${valid}")
    endif ()
    if (CMAKE_C_FLAGS MATCHES "-mfloat-abi=(softfp|soft)")
        message(FATAL_ERROR "gyre: ${library}: kernels pass floats in registers, and need -mfloat-abi=hard, got "
                            "-mfloat-abi=${CMAKE_MATCH_1}")
    endif ()
endfunction()

# What a compiler for each machine defines. Objects of another one, or with another way to pass floats, are refused by the linker at last, in words of
# its own.
set(gyre_macros_of_aarch64 __aarch64__ __ARM_FP)
set(gyre_macros_of_cortex __arm__)
set(gyre_macros_of_riscv32 __riscv_float_abi_single)
set(gyre_macros_of_riscv64 __riscv_float_abi_double)

function(gyre_check_machine library target)
    string(REGEX MATCH "^(aarch64|cortex|riscv32|riscv64)" machine "${GYRE_TARGET_${target}_ARCH}")
    if (NOT machine)
        return()
    endif ()
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    if (CMAKE_C_COMPILER_TARGET)
        list(PREPEND flags "--target=${CMAKE_C_COMPILER_TARGET}")
    endif ()
    execute_process(COMMAND "${CMAKE_C_COMPILER}" ${flags} -dM -E -x c /dev/null OUTPUT_VARIABLE macros ERROR_QUIET RESULT_VARIABLE failed)
    if (failed) # of a compiler that lists no macros
        return()
    endif ()
    foreach (macro IN LISTS gyre_macros_of_${machine})
        if (NOT macros MATCHES "#define ${macro} ")
            message(FATAL_ERROR "gyre: ${library}: kernels for ${target} need a compiler for ${GYRE_TARGET_${target}_ARCH} that passes floats in "
                                "registers; ${CMAKE_C_COMPILER} ${CMAKE_C_FLAGS} does not define ${macro}")
        endif ()
    endforeach ()
endfunction()

function(gyre_begin_embedded library)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;TARGET" "TUNING")
    gyre_check_machine("${library}" "${arg_TARGET}")
    file(GLOB shipped CONFIGURE_DEPENDS "${GYRE_GENERATORS_DIR}/tuning/${arg_TARGET}.json")
    set(tuning ${arg_TUNING} ${shipped})
    foreach (file IN LISTS tuning)
        gyre_check_tuning("${file}")
    endforeach ()
    if (GYRE_TARGET_${arg_TARGET}_LLC)
        gyre_check_processor_flags("${library}" "${arg_TARGET}")
        # Halide 21 writes the assembly of LLVM 21, which later ones read.
        find_program(GYRE_LLC NAMES llc-21 llc-22 llc-23 DOC "LLVM's llc, 21 or later")
        if (NOT GYRE_LLC)
            message(FATAL_ERROR "gyre: ${arg_TARGET} needs llc of LLVM 21 or later: apt-get install llvm-22, or name it "
                                "in GYRE_LLC")
        endif ()
    endif ()
    set_property(GLOBAL PROPERTY GYRE_${library}_FOLDER "${arg_FOLDER}")
    set_property(GLOBAL PROPERTY GYRE_${library}_TARGET "${arg_TARGET}")
    set_property(GLOBAL PROPERTY GYRE_${library}_TUNING "${tuning}")
endfunction()

function(gyre_add_embedded_kernel library operation)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "VARIANT" "FIELDS;PARAMS")
    foreach (field IN ITEMS FOLDER TARGET TUNING)
        get_property(${field} GLOBAL PROPERTY GYRE_${library}_${field})
    endforeach ()
    gyre_require_generator("${operation}" "" generator)
    gyre_read_knobs("${TUNING}" "${TARGET}" "${operation}" "${arg_VARIANT}" knobs evidence)
    set(name "gyre_${operation}_${arg_VARIANT}")
    set(symbol "gyrekernel_embedded_${operation}_${arg_VARIANT}")
    set(base "${FOLDER}/kernels/${symbol}")
    file(MAKE_DIRECTORY "${FOLDER}/gyre" "${FOLDER}/kernels")
    set(emit object)
    set(assemble "")
    if (GYRE_TARGET_${TARGET}_LLC)
        # The assembly names Halide's processor in every function, and its machine; llc's own are to count.
        separate_arguments(options UNIX_COMMAND "${GYRE_TARGET_${TARGET}_LLC}")
        set(emit llvm_assembly)
        set(assemble COMMAND sed -i -E -e "s/\"(target-cpu|target-features|tune-cpu)\"=\"[^\"]*\"//g"
                             -e "/^target (triple|datalayout)/d" "${base}.ll"
                     COMMAND "${GYRE_LLC}" ${options} -float-abi=hard -O3 --function-sections --data-sections
                             -filetype=obj "${base}.ll" -o "${base}.o")
    endif ()
    # Halide's description of the arguments, which nothing here reads, is as large as half the code.
    set(keep_the_code "")
    set(count_the_stack "")
    if (GYRE_TARGET_${TARGET}_HALIDE MATCHES "-noos")
        set(count_the_stack -D "OBJDUMP=${CMAKE_OBJDUMP}" -D POINTER=${CMAKE_SIZEOF_VOID_P})
    endif ()
    if (GYRE_TARGET_${TARGET}_HALIDE MATCHES "-noos" AND NOT CMAKE_LINKER MATCHES "lld")
        set(keep_the_code COMMAND "${CMAKE_LINKER}" ${GYRE_LINKER_FLAGS} -r --gc-sections --unique -z noexecstack -e ${symbol}_argv "${base}.o" -o
                                  "${base}.code.o"
                          COMMAND "${CMAKE_COMMAND}" -E rename "${base}.code.o" "${base}.o")
    endif ()
    add_custom_command(
        OUTPUT "${base}.o" "${base}.h"
        COMMAND "${generator}" -g ${operation} -f ${symbol} -o "${FOLDER}/kernels" -e ${emit}
                target=${GYRE_TARGET_${TARGET}_HALIDE}${gyre_halide_embedded} ${arg_PARAMS} ${knobs}
                "facts=${base}.facts"
        ${assemble}
        COMMAND "${CMAKE_OBJCOPY}" --redefine-sym halide_malloc=gyre_embedded_malloc
                --redefine-sym halide_free=gyre_embedded_free "${base}.o"
        ${keep_the_code}
        COMMAND "${CMAKE_COMMAND}" -D OPERATION=${operation} -D NAME=${name} -D "OBJECT=${base}.o"
                -D "FACTS=${base}.facts" -D "HEADER=${base}.h" -D "NM=${CMAKE_NM}" ${count_the_stack}
                -P "${gyre_embedded_scripts}/embedded_kernel.cmake"
        DEPENDS "${generator}" gyre_${operation}_generator "${gyre_embedded_scripts}/embedded_kernel.cmake"
                "${gyre_embedded_scripts}/embedded_stack.cmake"
        COMMENT "kernel ${operation}_${arg_VARIANT} (${TARGET})"
        VERBATIM)
    list(JOIN arg_FIELDS ", " fields)
    if (operation STREQUAL attention)
        string(TOUPPER "${name}" upper)
        string(APPEND fields ", .task_rows = ${upper}_TASK_ROWS, .key_block = ${upper}_KEY_BLOCK"
                             ", .workspace = ${upper}_SCRATCH")
    endif ()
    file(CONFIGURE OUTPUT "${base}.c" @ONLY CONTENT
         "#include \"gyre/embedded_kernels.h\"
int @symbol@_argv(void **);
const gyre_embedded_@operation@_kernel @name@ = {@fields@, .call = @symbol@_argv};
")
    set_source_files_properties("${base}.o" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    set_source_files_properties("${base}.c" PROPERTIES OBJECT_DEPENDS "${FOLDER}/gyre/embedded_kernels.h")
    set_property(GLOBAL APPEND PROPERTY GYRE_${library}_SOURCES "${base}.c" "${base}.o")
    set_property(GLOBAL APPEND PROPERTY GYRE_${library}_HEADERS "${base}.h")
endfunction()

function(gyre_end_embedded library)
    foreach (field IN ITEMS FOLDER SOURCES HEADERS)
        get_property(${field} GLOBAL PROPERTY GYRE_${library}_${field})
    endforeach ()
    set(header "${FOLDER}/gyre/embedded_kernels.h")
    add_custom_command(OUTPUT "${header}"
                       COMMAND "${CMAKE_COMMAND}" -D "HEADERS=${HEADERS}" -D LIBRARY=${library} -D "FOLDER=${FOLDER}"
                               -P "${gyre_embedded_scripts}/embedded_header.cmake"
                       DEPENDS ${HEADERS} "${gyre_embedded_scripts}/embedded_header.cmake"
                       VERBATIM)
    add_custom_target(${library}_kernels DEPENDS "${header}")
    add_dependencies(${library} ${library}_kernels)
    target_sources(${library} PRIVATE ${SOURCES})
    target_include_directories(${library} PUBLIC "$<BUILD_INTERFACE:${FOLDER}>")
endfunction()
