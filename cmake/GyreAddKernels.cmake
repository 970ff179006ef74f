# gyre_add_kernels(<library> OPS <rotary, attention, backward, linear> [DTYPES <f32, f16, bf16>] [HEAD_DIMS <sizes>] [FEATURES <names>]
#                  [TARGETS <names>] [TUNING <files>] [SCORE <files>])
#
# Makes a library of exactly these kernels, for a project's own targets, when the project is built. Link it with
# gyre::runtime, or beside the kernels of gyre::gyre: calls find its kernels like any other, first of their target.
#
#     find_package(gyre REQUIRED)
#     gyre_add_kernels(my_kernels OPS rotary attention DTYPES f32 bf16 HEAD_DIMS 72 FEATURES causal roper TARGETS host)
#     target_link_libraries(my_program PRIVATE my_kernels gyre::runtime)
#
# DTYPES     default f32. rotary with f16 or bf16 also converts f32 to it, for gyre_cache_append()
# HEAD_DIMS  of attention, 1 to 512
# FEATURES   what calls will use; default: everything. bias, mask, softcap, alibi and sinks take larger kernels than causal,
#            window, gqa, packed, lse, rope and roper, which every kernel has; dropout takes kernels of its own beside them.
#            For rotary: half, interleaved
# TARGETS    rows of GyreTargets.cmake of the architecture that is compiled for; cuda: rotary, and attention with head sizes that are
#            multiples of 16, up to 256 or in f32 128, and backward up to 128 or in f32 64; host: the best that this machine can run
#            (default, but `all` when cross-compiling); all: one after the other, chosen when the program runs
# TUNING     knobs of your own, in the format of generators/tuning; what they leave open is as shipped. An entry for a kernel that
#            is not made is warned of, with the names of those that are
# SCORE      files that define a score function each (generators/attention/score.h): makes attention kernels with it
#
# Needs Halide 21 on the machine that builds, see GyreHalide.cmake, and no other configuration to cross-compile. A mistake
# stops the configuration and says what is valid.
#
# A target without an operating system, such as cortex_m55, stands alone, and the project is configured with a toolchain whose
# CMAKE_SYSTEM_NAME is Generic. The library is then one of gyre/embedded.h, and beside it <library>/<library>.o and
# <library>/gyre/ are made, for projects without CMake: tests/embedded/example. It has DTYPES f32, f16, f32_f16, i8, i8_integer and q15, HEAD_DIMS that are
# multiples of 16, softcap and all FEATURES of a plain call but packed, and no SCORE.

# In a clone; an installed package says where, and includes this file.
get_property(gyre_is_placed GLOBAL PROPERTY GYRE_GENERATORS_DIR SET)
if (NOT gyre_is_placed)
    cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH gyre_clone)
    set_property(GLOBAL PROPERTY GYRE_GENERATORS_DIR "${gyre_clone}/generators")
    set_property(GLOBAL PROPERTY GYRE_INCLUDE_DIR "${gyre_clone}/include")
    set_property(GLOBAL PROPERTY GYRE_EMBEDDED_DIR "${gyre_clone}/runtime/embedded")
endif ()

function(gyre_add_kernels library)
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreChecks.cmake")
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreGenerators.cmake")
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreCuda.cmake")
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreTargets.cmake")
    get_property(GYRE_GENERATORS_DIR GLOBAL PROPERTY GYRE_GENERATORS_DIR)
    get_property(GYRE_INCLUDE_DIR GLOBAL PROPERTY GYRE_INCLUDE_DIR)
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreKnobs.cmake")
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreFamilies.cmake")
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreKernels.cmake")
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreVariants.cmake")

    set(lists OPS DTYPES HEAD_DIMS FEATURES TARGETS TUNING SCORE)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "${lists}")
    set(who "gyre_add_kernels(${library})")
    foreach (word IN LISTS ARGN) # which the list before it would take
        if (word MATCHES "^[A-Z][A-Z_]+$" AND NOT word IN_LIST lists AND NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${word}")
            list(JOIN lists ", " valid)
            message(FATAL_ERROR "${who}: ${word} is no keyword; valid: ${valid}")
        endif ()
    endforeach ()
    if (arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
        list(JOIN lists ", " valid)
        message(FATAL_ERROR "${who}: got ${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}, expected values after one of ${valid}")
    elseif (NOT library MATCHES "^[A-Za-z_][A-Za-z0-9_]*$" OR library STREQUAL "gyre")
        message(FATAL_ERROR "${who}: the name becomes part of symbols: expected letters, digits and _, and not gyre")
    endif ()
    set(reserved all ALL_BUILD clean CTest depend edit_cache help install INSTALL list_install_components package PACKAGE package_source
                 preinstall rebuild_cache RUN_TESTS test ZERO_CHECK)
    foreach (name IN ITEMS ${library} ${library}_archive ${library}_kernels_shipped)
        if (TARGET ${name} OR name IN_LIST reserved)
            message(FATAL_ERROR "${who}: ${name} is a target already, or a name that CMake keeps for itself: expected another name")
        endif ()
    endforeach ()
    if (NOT arg_DTYPES)
        set(arg_DTYPES f32)
    endif ()
    if (NOT arg_TARGETS)
        if (CMAKE_CROSSCOMPILING)
            set(arg_TARGETS all)
        else ()
            set(arg_TARGETS host)
        endif ()
    endif ()
    gyre_check_words("${who}" OPS "${arg_OPS}" "${GYRE_OPERATIONS}")
    gyre_check_words("${who}" FEATURES "${arg_FEATURES}"
                     "${GYRE_ROTARY_FEATURES};${GYRE_PLAIN_FEATURES};${GYRE_DECODE_FEATURES};${GYRE_GENERAL_FEATURES};${GYRE_DROPOUT_FEATURES}")
    if (NOT arg_OPS)
        list(JOIN GYRE_OPERATIONS ", " valid)
        message(FATAL_ERROR "${who}: no OPS; valid: ${valid}")
    elseif (attention IN_LIST arg_OPS AND NOT arg_HEAD_DIMS)
        message(FATAL_ERROR "${who}: attention needs HEAD_DIMS, 1 to ${gyre_largest_head_dim}")
    endif ()
    foreach (size IN LISTS arg_HEAD_DIMS)
        if (NOT size MATCHES "^[1-9][0-9]*$" OR size GREATER gyre_largest_head_dim)
            message(FATAL_ERROR "${who}: HEAD_DIMS: got ${size}, valid: 1 to ${gyre_largest_head_dim}")
        endif ()
    endforeach ()
    set(named_targets ${arg_TARGETS})
    gyre_find_targets(arg_TARGETS error)
    if (error)
        message(FATAL_ERROR "${who}: TARGETS: ${error}")
    endif ()
    set(gyre_device_head_dims "") # all that are possible
    set(gyre_sizes_of_vectors "")
    set(gyre_sizes_of_matrices "")
    foreach (target IN LISTS named_targets)
        if (target IN_LIST arg_TARGETS AND GYRE_TARGET_${target}_DEVICE)
            gyre_check_device("${who}" ${target})
        endif ()
    endforeach ()
    set(bare FALSE)
    set(dtypes ${GYRE_DTYPES})
    foreach (target IN LISTS arg_TARGETS)
        if (GYRE_TARGET_${target}_HALIDE MATCHES "-noos")
            set(bare TRUE)
            set(dtypes f32 f16 f32_f16 i8 i8_integer q15)
            gyre_check_words("${who}" OPS "${arg_OPS}" "rotary;attention")
        endif ()
    endforeach ()
    gyre_check_words("${who}" DTYPES "${arg_DTYPES}" "${dtypes}")
    foreach (list IN ITEMS TUNING SCORE)
        gyre_find_files("${who}" ${list} arg_${list})
    endforeach ()
    foreach (file IN LISTS arg_SCORE)
        get_filename_component(name "${file}" NAME_WE)
        if (NOT name MATCHES "^[a-z][a-z0-9_]*$")
            message(FATAL_ERROR "${who}: SCORE: ${name} becomes the score's name: expected small letters, digits and _")
        endif ()
    endforeach ()

    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreHalide.cmake")
    if (bare)
        include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreEmbeddedLibrary.cmake")
        gyre_add_bare_kernels("${who}" ${library} OPS ${arg_OPS} DTYPES ${arg_DTYPES} HEAD_DIMS ${arg_HEAD_DIMS}
                              FEATURES ${arg_FEATURES} TARGETS ${arg_TARGETS} TUNING ${arg_TUNING} SCORE ${arg_SCORE})
        gyre_report_unused_tuning("${who}" "${arg_TUNING}")
        return()
    endif ()
    file(GLOB shipped_tuning "${GYRE_GENERATORS_DIR}/tuning/*.json")
    gyre_begin_kernels(${library} FOLDER "${CMAKE_CURRENT_BINARY_DIR}/${library}" FLAVOURS shipped TARGETS ${arg_TARGETS}
                       TUNING ${arg_TUNING} ${shipped_tuning})
    gyre_add_variants(${library} OPS ${arg_OPS} DTYPES ${arg_DTYPES} HEAD_DIMS ${arg_HEAD_DIMS} FEATURES ${arg_FEATURES}
                      SCORE ${arg_SCORE})
    gyre_check_made("${who}" ${library} "${named_targets}" "${arg_OPS}" "${arg_DTYPES}" "${arg_HEAD_DIMS}")
    gyre_end_kernels(${library})
    gyre_report_unused_tuning("${who}" "${arg_TUNING}")

    # Whoever links the library gets all of it: nothing else asks for a list that registers itself.
    gyre_kernel_sources(${library} shipped sources)
    add_library(${library}_archive STATIC ${sources})
    add_dependencies(${library}_archive ${library}_kernels_shipped)
    target_include_directories(${library}_archive PRIVATE "${GYRE_INCLUDE_DIR}")
    set_target_properties(${library}_archive PROPERTIES POSITION_INDEPENDENT_CODE ON OUTPUT_NAME ${library} LINKER_LANGUAGE C)
    add_library(${library} INTERFACE)
    target_link_libraries(${library} INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${library}_archive>")
    gyre_asks_for_masks(${library} masks)
    if (masks) # The shared library has what is asked for, and does not tell its name: that is no error.
        target_link_options(${library} INTERFACE LINKER:-u,gyre_attention_masks)
    endif ()
endfunction()
