# Libraries of kernels, from the bottom: one object a kernel and target, and the list that tells the runtime of them.
#
#   gyre_begin_kernels(<library> FOLDER <folder> FLAVOURS <shipped, checked> TARGETS <names> TUNING <files>
#                      [CHECKED <regular expression>] [UNCHECKED <names>])
#   gyre_add_kernel(<library> <operation> VARIANT <name> TARGETS <names> [SCORE <file>] [KNOBS_OF <variant>]
#                   [STAND_INS <script>] PARAMS <name=value>…)                                                        any number
#   gyre_end_kernels(<library>)
#
# A kernel is called <operation>_<variant>__<target>. CHECKED tells by that name which kernels are made in the checked flavour, too; the
# others stand in its library as shipped. Default: all. UNCHECKED are targets that this library does without.
# TARGETS: those to make it for (GyreFamilies.cmake). STAND_INS: as of a target (GyreTargets.cmake), for this kernel.
# KNOBS_OF: with the knobs of another, whose bits it is to give. PARAMS fix what it computes; how is up to the knobs in the tuning files.
# Each kernel is one command of its own: after a knob has changed only that kernel is made. GYRE_KERNEL_CACHE in the environment names
# a folder that kernels are kept in for other builds (cached_command.cmake).

include("${CMAKE_CURRENT_LIST_DIR}/GyreKernelLists.cmake")

function(gyre_begin_kernels library)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;CHECKED" "FLAVOURS;TARGETS;TUNING;UNCHECKED")
    foreach (file IN LISTS arg_TUNING)
        gyre_check_tuning("${file}")
    endforeach ()
    foreach (field IN ITEMS FOLDER FLAVOURS TARGETS TUNING CHECKED UNCHECKED)
        set_property(GLOBAL PROPERTY GYRE_${library}_${field} "${arg_${field}}")
    endforeach ()
endfunction()

function(gyre_add_kernel library operation)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "VARIANT;SCORE;KNOBS_OF;STAND_INS" "TARGETS;PARAMS")
    if (NOT arg_KNOBS_OF)
        set(arg_KNOBS_OF "${arg_VARIANT}")
    endif ()
    foreach (field IN ITEMS FOLDER FLAVOURS TUNING)
        get_property(${field} GLOBAL PROPERTY GYRE_${library}_${field})
    endforeach ()
    gyre_require_generator("${operation}" "${arg_SCORE}" generator)
    foreach (target IN LISTS arg_TARGETS)
        set(name "${operation}_${arg_VARIANT}__${target}")
        set(stand_ins ${GYRE_TARGET_${target}_STAND_INS} ${arg_STAND_INS})
        set(parameters ${arg_PARAMS} ${GYRE_TARGET_${target}_PARAMETERS})
        gyre_read_knobs("${TUNING}" "${target}" "${operation}" "${arg_KNOBS_OF}" knobs evidence)
        foreach (flavour IN LISTS FLAVOURS)
            gyre_made_flavour("${library}" ${flavour} "${name}" ${target} made)
            if (made STREQUAL flavour)
                gyre_make_object("${library}" ${flavour} "${operation}" "${arg_VARIANT}__${target}" ${target} "${generator}"
                                 "${parameters};${knobs}" "${stand_ins}")
            endif ()
            if (made)
                set(object "${FOLDER}/${made}/gyrekernel_${library}_${name}.o")
                set_property(GLOBAL APPEND PROPERTY GYRE_${library}_OBJECTS_${flavour} "${object}")
            endif ()
        endforeach ()
        list(JOIN parameters " " attributes)
        list(JOIN knobs " " knobs)
        set_property(GLOBAL APPEND PROPERTY GYRE_${library}_ROWS_${target}
                     "${operation}|${arg_VARIANT}|${attributes}|${evidence}|${generator}|${knobs}|${arg_KNOBS_OF}|${stand_ins}")
    endforeach ()
endfunction()

# gyre_made_flavour(<library> <flavour> <kernel> <target> <out>): in which flavour a library of this flavour has the kernel; "" if it
# has it not.
function(gyre_made_flavour library flavour kernel target out)
    get_property(checked GLOBAL PROPERTY GYRE_${library}_CHECKED)
    get_property(unchecked GLOBAL PROPERTY GYRE_${library}_UNCHECKED)
    set(${out} ${flavour} PARENT_SCOPE)
    if (flavour STREQUAL shipped)
        return()
    endif ()
    if (GYRE_TARGET_${target}_DEVICE OR target IN_LIST unchecked) # Halide's assertions are about host memory
        set(${out} "" PARENT_SCOPE)
    elseif (checked AND NOT kernel MATCHES "${checked}")
        set(${out} shipped PARENT_SCOPE)
    endif ()
endfunction()

# shipped: no assertions, no bounds queries, and memory from hooks of the runtime.
# checked: everything on, with Halide's own runtime; for tests.
set(gyre_halide_shipped "-no_runtime-user_context-no_asserts-no_bounds_query")
set(gyre_halide_checked "-no_runtime-user_context")

function(gyre_make_object library flavour operation name target generator parameters stand_ins)
    get_property(folder GLOBAL PROPERTY GYRE_${library}_FOLDER)
    string(APPEND folder "/${flavour}")
    file(MAKE_DIRECTORY "${folder}")
    set(symbol "gyrekernel_${library}_${operation}_${name}")
    set(object "${folder}/${symbol}.o")
    set(rename "")
    if (flavour STREQUAL shipped)
        set(rename --then "${CMAKE_OBJCOPY}" --redefine-sym halide_malloc=gyre_kernel_malloc
                   --redefine-sym halide_free=gyre_kernel_free "${object}")
    endif ()
    set(emitted object)
    set(listings "")
    set(outputs "${object}" "${folder}/${symbol}.inc")
    if (GYRE_LISTINGS)
        set(listings ",stmt,assembly")
        list(APPEND outputs "${folder}/${symbol}.stmt" "${folder}/${symbol}.s")
    endif ()
    set(assemble "")
    set(script "")
    if (stand_ins)
        set(emitted assembly)
        gyre_assemble("${stand_ins}" "${folder}/${symbol}.s" "${object}" script assemble)
    endif ()
    list(REMOVE_ITEM parameters "")
    set(generator_of_target ${operation})
    set(device_code "")
    if (GYRE_TARGET_${target}_DEVICE)
        string(APPEND generator_of_target "_${GYRE_TARGET_${target}_DEVICE}")
        set(device_code "device_code=${folder}/${symbol}.cu")
        list(APPEND outputs "${folder}/${symbol}.cu")
        gyre_make_image(${symbol} "${folder}" ${target})
        set_source_files_properties("${folder}/${symbol}.image.o" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
        set_property(GLOBAL APPEND PROPERTY GYRE_${library}_IMAGES_${flavour} "${folder}/${symbol}.image.o")
        set_property(GLOBAL APPEND PROPERTY GYRE_${library}_DEVICE_CODE "${folder}/${symbol}.cu")
    endif ()
    get_filename_component(generator_name "${generator}" NAME_WE)
    set(key_files "${generator}.key" ${script})
    set(recipe -g ${generator_of_target} -f ${symbol} -e ${emitted}${listings}
               target=${GYRE_TARGET_${target}_HALIDE}${gyre_halide_${flavour}} ${parameters})
    add_custom_command(
        OUTPUT ${outputs}
        COMMAND "${CMAKE_COMMAND}" -D "KEY=${recipe} ${stand_ins} ${flavour} ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}" -D "KEY_FILES=${key_files}"
                -D "OUTPUTS=${outputs}" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cached_command.cmake" --
                "${generator}" ${recipe} -o "${folder}" "facts=${folder}/${symbol}.inc" ${device_code} ${assemble} ${rename}
        DEPENDS "${generator}" ${generator_name}_generator ${script}
        COMMENT "kernel ${operation}_${name} (${flavour})"
        VERBATIM)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
endfunction()

# gyre_assemble(<stand-ins> <assembly> <object> <script> <commands>): the script that replaces the stand-ins, and the commands that run
# it and then the assembler, for cached_command.cmake.
function(gyre_assemble stand_ins assembly object script_out commands_out)
    set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${stand_ins}.cmake")
    set(options "")
    if (CMAKE_C_COMPILER_TARGET)
        set(options "--target=${CMAKE_C_COMPILER_TARGET}")
    endif ()
    set(${script_out} "${script}" PARENT_SCOPE)
    set(${commands_out} --then "${CMAKE_COMMAND}" -D "ASSEMBLY=${assembly}" -P "${script}"
                        --then "${CMAKE_C_COMPILER}" ${options} -c "${assembly}" -o "${object}" PARENT_SCOPE)
endfunction()

# gyre_end_kernels(<library>): writes the list of each flavour, FOLDER/<flavour>.c, and FOLDER/recipes.json, which tells the
# tuner how each kernel is made. The target <library>_<flavour> makes all objects.
function(gyre_end_kernels library)
    get_property(folder GLOBAL PROPERTY GYRE_${library}_FOLDER)
    get_property(flavours GLOBAL PROPERTY GYRE_${library}_FLAVOURS)
    foreach (flavour IN LISTS flavours)
        gyre_write_kernel_list("${library}" ${flavour} "${folder}/${flavour}.c")
        get_property(objects GLOBAL PROPERTY GYRE_${library}_OBJECTS_${flavour})
        get_property(images GLOBAL PROPERTY GYRE_${library}_IMAGES_${flavour})
        add_custom_target(${library}_kernels_${flavour} DEPENDS ${objects} ${images})
    endforeach ()
    if (TARGET ${library}_kernels_checked) # shares objects with it
        add_dependencies(${library}_kernels_checked ${library}_kernels_shipped)
    endif ()
    gyre_write_recipes("${library}" "${folder}/recipes.json")
endfunction()

# gyre_kernel_sources(<library> <flavour> <sources>): what a library with these kernels is made of, list and objects. To be
# called where that library is made; it must depend on <library>_kernels_<flavour>.
function(gyre_kernel_sources library flavour sources_out)
    get_property(folder GLOBAL PROPERTY GYRE_${library}_FOLDER)
    get_property(objects GLOBAL PROPERTY GYRE_${library}_OBJECTS_${flavour})
    string(REGEX REPLACE "\\.o(;|$)" ".inc\\1" facts "${objects}")
    set_source_files_properties("${folder}/${flavour}.c" PROPERTIES OBJECT_DEPENDS "${facts}")
    get_property(images GLOBAL PROPERTY GYRE_${library}_IMAGES_${flavour})
    set_source_files_properties(${objects} ${images} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    set(${sources_out} "${folder}/${flavour}.c" ${objects} ${images} PARENT_SCOPE)
endfunction()

# gyre_asks_for_masks(<library> <out>): whether some kernel of attention on CPUs takes masks. Programs with such a library are linked with
# what looks for ranges in masks (runtime/attention/masks/part.h).
function(gyre_asks_for_masks library out)
    set(${out} FALSE PARENT_SCOPE)
    foreach (target IN LISTS GYRE_KNOWN_TARGETS)
        get_property(kernels GLOBAL PROPERTY GYRE_${library}_ROWS_${target})
        list(FILTER kernels INCLUDE REGEX "^attention[|][^|]*[|][^|]*(general|dropout|score)=[^f|]")
        if (kernels AND NOT GYRE_TARGET_${target}_DEVICE)
            set(${out} TRUE PARENT_SCOPE)
        endif ()
    endforeach ()
endfunction()
