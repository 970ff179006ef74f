# gyre_add_embedded_library(<library> TARGET <row of GyreTargets.cmake without an operating system> OPS <rotary, attention>
#                           DTYPES <f32, f16, f32_f16, i8, i8_integer, q15> PAIRINGS <half, interleaved> [HEAD_DIMS <multiples of 16>]
#                           [SOFTCAP_DTYPES <of DTYPES>] [TUNING <files>])
#
# Makes a static library of gyre/embedded.h with these kernels, DTYPES being those of caches, f32_f16 a cache in f16 for queries in f32, or
# q15; attention of SOFTCAP_DTYPES has kernels with softcap beside those without; and in the folder <library>, beside the current binary
# directory's files, what a project without CMake takes: <library>.o, the same in one object, with a section a function, and
# gyre/embedded.h and gyre/embedded_kernels.h, whose text is also in <library>.h, for programs with several libraries.

include("${CMAKE_CURRENT_LIST_DIR}/GyreEmbedded.cmake")

function(gyre_add_embedded_library library)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TARGET" "OPS;DTYPES;PAIRINGS;HEAD_DIMS;SOFTCAP_DTYPES;TUNING")
    get_property(runtime GLOBAL PROPERTY GYRE_EMBEDDED_DIR)
    get_property(include GLOBAL PROPERTY GYRE_INCLUDE_DIR)
    get_property(generators GLOBAL PROPERTY GYRE_GENERATORS_DIR)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${library}")
    set(sources angles.c angles_q15.c attention.c attention_call.c attention_check.c attention_task.c frequencies.c merge.c mistake.c
                quantize.c quantize_by_head.c rotary.c)
    if (NOT GYRE_TARGET_${arg_TARGET}_HALIDE MATCHES "-noos")
        list(APPEND sources memory.c) # of kernels that allocate
    endif ()
    list(TRANSFORM sources PREPEND "${runtime}/")
    add_library(${library} STATIC ${sources})
    target_include_directories(${library} PUBLIC "$<BUILD_INTERFACE:${include}>" "$<INSTALL_INTERFACE:include>")
    target_include_directories(${library} PRIVATE "${generators}") # what kernels are called with
    target_include_directories(${library} SYSTEM PRIVATE
                               "$<TARGET_PROPERTY:Halide::Runtime,INTERFACE_INCLUDE_DIRECTORIES>")
    # First of all: a cross compiler for Linux finds headers of the C library that it cannot read without the target's own.
    target_include_directories(${library} BEFORE PRIVATE "${runtime}/freestanding")
    # A program's flags may ask for what the library cannot do: to take infinities for numbers, or to be linked by -r without code.
    target_compile_options(${library} PRIVATE -Os -ffunction-sections -fdata-sections -fno-fast-math -fno-lto)
    # The files with loops over features.
    set_source_files_properties("${runtime}/quantize.c" "${runtime}/quantize_by_head.c" PROPERTIES COMPILE_OPTIONS -O3)
    # One object a file: a link takes those that it needs, and files have names of their own that others have, too.
    set_target_properties(${library} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF UNITY_BUILD OFF)

    set(gyre_halide_type_q15 int16)
    if (i8_integer IN_LIST arg_DTYPES AND NOT GYRE_TARGET_${arg_TARGET}_LLC MATCHES "thumbv7em|cortex-m33")
        message(FATAL_ERROR "gyre: i8_integer: scores by integers take the DSP instructions of Cortex-M4, M7 and M33, got ${arg_TARGET}")
    endif ()
    gyre_begin_embedded(${library} FOLDER "${folder}" TARGET ${arg_TARGET} TUNING ${arg_TUNING})
    foreach (dtype IN LISTS arg_DTYPES)
        if (rotary IN_LIST arg_OPS AND NOT dtype MATCHES "^i8") # which is quantised after rotation
            foreach (pairing IN LISTS arg_PAIRINGS)
                if (NOT dtype STREQUAL f32_f16)
                    gyre_add_embedded_rotary(${library} ${dtype} ${dtype} ${pairing})
                endif ()
                # From what is computed to a smaller cache.
                if (dtype STREQUAL f32_f16 OR (dtype STREQUAL f16 AND NOT f32_f16 IN_LIST arg_DTYPES))
                    gyre_add_embedded_rotary(${library} f32 f16 ${pairing})
                endif ()
            endforeach ()
        endif ()
        if (attention IN_LIST arg_OPS AND NOT dtype STREQUAL q15)
            foreach (size IN LISTS arg_HEAD_DIMS)
                gyre_add_embedded_attention(${library} ${dtype} ${size} false)
                if (dtype IN_LIST arg_SOFTCAP_DTYPES)
                    gyre_add_embedded_attention(${library} ${dtype} ${size} true)
                endif ()
            endforeach ()
        endif ()
    endforeach ()
    gyre_end_embedded(${library})

    configure_file("${include}/gyre/embedded.h" "${folder}/gyre/embedded.h" COPYONLY)
    set(object "${folder}/${library}.o")
    add_custom_command(OUTPUT "${object}"
                       COMMAND "${CMAKE_LINKER}" ${GYRE_LINKER_FLAGS} -r --unique -z noexecstack --whole-archive "$<TARGET_FILE:${library}>" -o "${object}"
                       # Two such objects in a program share the library's functions; two kernels of one name stay an error.
                       COMMAND "${CMAKE_OBJCOPY}" -w "--weaken-symbol=gyre_embedded_*" "${object}"
                       DEPENDS ${library}
                       VERBATIM)
    add_custom_target(${library}_object ALL DEPENDS "${object}")
endfunction()

# Makes such a library from the words of gyre_add_kernels(), which have been checked for all targets.
function(gyre_add_bare_kernels who library)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "OPS;DTYPES;HEAD_DIMS;FEATURES;TARGETS;TUNING;SCORE")
    list(LENGTH arg_TARGETS targets)
    if (targets GREATER 1)
        message(FATAL_ERROR "${who}: TARGETS: got ${arg_TARGETS}, expected one: a machine without an operating system is known")
    elseif (arg_SCORE)
        message(FATAL_ERROR "${who}: SCORE: ${arg_TARGETS} takes no score functions")
    endif ()
    set(features ${GYRE_ROTARY_FEATURES} ${GYRE_PLAIN_FEATURES} softcap)
    list(REMOVE_ITEM features packed)
    gyre_check_words("${who}" FEATURES "${arg_FEATURES}" "${features}")
    foreach (size IN LISTS arg_HEAD_DIMS)
        math(EXPR rest "${size} % ${gyre_head_dim_multiple}")
        if (rest)
            message(FATAL_ERROR "${who}: HEAD_DIMS: got ${size}, valid for ${arg_TARGETS}: multiples of ${gyre_head_dim_multiple}")
        endif ()
    endforeach ()
    set(pairings ${arg_FEATURES})
    list(FILTER pairings INCLUDE REGEX "^(half|interleaved)$")
    if (NOT pairings)
        set(pairings ${GYRE_ROTARY_FEATURES})
    endif ()
    set(capped "")
    if (softcap IN_LIST arg_FEATURES)
        set(capped ${arg_DTYPES})
    endif ()
    gyre_add_embedded_library(${library} TARGET ${arg_TARGETS} OPS ${arg_OPS} DTYPES ${arg_DTYPES} PAIRINGS ${pairings}
                              HEAD_DIMS ${arg_HEAD_DIMS} SOFTCAP_DTYPES ${capped} TUNING ${arg_TUNING})
endfunction()

# The kernels of several rows and of one, for caches of a type.
function(gyre_add_embedded_attention library dtype size capped)
    set(type ${dtype})
    set(compute f32)
    set(cache i8)
    set(format rows)
    set(integer_scores false)
    if (dtype MATCHES "^i8")
        set(type f32_${dtype})
        set(format int8)
        if (dtype STREQUAL i8_integer)
            set(integer_scores true)
        endif ()
    elseif (dtype STREQUAL f32_f16)
        set(cache f16)
        set(format f16)
    else ()
        set(compute ${dtype})
        set(cache ${dtype})
    endif ()
    set(prefix "")
    set(softcap 0)
    if (capped)
        set(prefix capped_)
        set(softcap 1)
    endif ()
    string(TOUPPER "${compute};${cache}" upper)
    list(TRANSFORM upper PREPEND GYRE_EMBEDDED_)
    list(GET upper 0 dtype_value)
    list(GET upper 1 cache_value)
    foreach (rows IN ITEMS "" row_)
        gyre_add_embedded_kernel(${library} attention VARIANT ${rows}${prefix}${type}_d${size}
                                 FIELDS ".dtype = ${dtype_value}" ".cache_dtype = ${cache_value}" ".head_dim = ${size}"
                                        ".softcap = ${softcap}"
                                 PARAMS dtype=${gyre_halide_type_${compute}} cache=${format}
                                        integer_scores=${integer_scores} capped=${capped} head_dim=${size} as_stored=true dense=true)
    endforeach ()
endfunction()

function(gyre_add_embedded_rotary library from to pairing)
    set(variant ${from}_${to}_${pairing})
    if (from STREQUAL to)
        set(variant ${to}_${pairing})
    endif ()
    string(TOUPPER "${from};${to};${pairing}" upper)
    list(TRANSFORM upper PREPEND GYRE_EMBEDDED_)
    list(GET upper 0 x_dtype)
    list(GET upper 1 out_dtype)
    list(GET upper 2 value)
    gyre_add_embedded_kernel(${library} rotary VARIANT ${variant}
                             FIELDS ".x_dtype = ${x_dtype}" ".out_dtype = ${out_dtype}" ".pairing = ${value}"
                             PARAMS from_dtype=${gyre_halide_type_${from}} dtype=${gyre_halide_type_${to}}
                                    pairing=${pairing})
endfunction()
