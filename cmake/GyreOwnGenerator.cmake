# What gyre_add_generator() is made of: the generator's program, the objects and Halide's runtime.

# gyre_require_own_generator(<library> <sources> <program>): the program of a project's own generator, with the passes at hand.
function(gyre_require_own_generator library sources program_out)
    set(folder "${CMAKE_BINARY_DIR}/gyre_generators")
    set(parts_folder "${folder}")
    if (GYRE_GENERATORS)
        set(parts_folder "${GYRE_GENERATORS}")
    endif ()
    set(program "${folder}/own_${library}.generator")
    set(${program_out} "${program}" PARENT_SCOPE)
    gyre_place_halide("${folder}")
    gyre_generator_command("${parts_folder}" command)
    gyre_require_generator_parts("common;math;passes;cuda" "${folder}" "${command}" objects targets)
    set(precompiled "")
    if (NOT GYRE_GENERATORS)
        set(precompiled "${folder}/precompiled.h.gch")
    endif ()
    set(own "")
    foreach (source IN LISTS sources)
        get_filename_component(name "${source}" NAME)
        set(object "${folder}/own_${library}/${name}.o")
        file(MAKE_DIRECTORY "${folder}/own_${library}")
        add_custom_command(OUTPUT "${object}"
                           COMMAND ${command} -MMD -MF "${object}.d" -MT "${object}" -c "${source}" -o "${object}"
                           DEPENDS "${source}" ${precompiled}
                           DEPFILE "${object}.d"
                           COMMENT "generator ${library}: ${name}"
                           VERBATIM)
        list(APPEND own "${object}")
    endforeach ()
    gyre_link_generator("${program}" "${command};${own};${objects}" "${own};${objects};${targets}" "generator ${library}")
    add_custom_target(${library}_generator DEPENDS "${program}")
endfunction()

# gyre_make_own_object(<library> <target> <program> <generator> <parameters> <objects>): the kernel of a target, its header and, for a
# device, its machine code. <objects> are what is linked.
function(gyre_make_own_object library target program generator parameters objects_out)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${library}")
    set(symbol "${library}__${target}")
    set(object "${folder}/${symbol}.o")
    set(outputs "${object}" "${folder}/${symbol}.h")
    set(${objects_out} "${object}" PARENT_SCOPE)
    list(REMOVE_ITEM parameters "")
    set(features "${gyre_halide_checked}")
    if (arg_UNCHECKED OR GYRE_TARGET_${target}_DEVICE) # Halide's checks are about host memory
        set(features "${gyre_halide_shipped}")
    endif ()
    set(listings "")
    if (GYRE_LISTINGS)
        set(listings ",stmt,assembly")
        list(APPEND outputs "${folder}/${symbol}.stmt" "${folder}/${symbol}.s")
    endif ()
    set(stand_ins ${GYRE_TARGET_${target}_STAND_INS})
    if (arg_STREAMING_STORES AND GYRE_TARGET_${target}_ARCH STREQUAL "x86_64" AND NOT GYRE_TARGET_${target}_DEVICE)
        set(stand_ins streaming_stores)
    endif ()
    set(emitted object)
    set(script "")
    set(assemble "")
    if (stand_ins)
        set(emitted assembly)
        gyre_assemble("${stand_ins}" "${folder}/${symbol}.s" "${object}" script assemble)
    endif ()
    set(device_code "")
    if (GYRE_TARGET_${target}_DEVICE)
        set(device_code "device_code=${folder}/${symbol}.cu")
        list(APPEND outputs "${folder}/${symbol}.cu")
        gyre_make_image(${symbol} "${folder}")
        set(${objects_out} "${object}" "${folder}/${symbol}.image.o" PARENT_SCOPE)
    endif ()
    set(recipe -g ${generator} -f ${symbol} -e ${emitted},c_header${listings} target=${GYRE_TARGET_${target}_HALIDE}${features}
               ${parameters})
    add_custom_command(
        OUTPUT ${outputs}
        COMMAND "${CMAKE_COMMAND}" -D "KEY=${recipe} ${stand_ins} ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
                -D "KEY_FILES=${program}.key;${script}" -D "OUTPUTS=${outputs}"
                -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cached_command.cmake" --
                "${program}" ${recipe} -o "${folder}" ${device_code} ${assemble}
        DEPENDS "${program}" "${program}.key" ${script}
        COMMENT "kernel ${symbol}"
        VERBATIM)
endfunction()

# gyre_require_halide_runtime(<program> <out>): the target of Halide's own runtime for the architecture that is compiled for, made once.
function(gyre_require_halide_runtime program out)
    set(name gyre_own_halide_runtime)
    set(${out} ${name} PARENT_SCOPE)
    if (TARGET ${name})
        return()
    endif ()
    list(GET GYRE_TARGETS_HERE 0 first)
    string(REGEX MATCH "^[a-z0-9]+-[0-9]+-[a-z]+" halide_target "${GYRE_TARGET_${first}_HALIDE}")
    set(folder "${CMAKE_BINARY_DIR}/gyre_generators")
    set(object "${folder}/${name}.o")
    add_custom_command(OUTPUT "${object}"
                       COMMAND "${program}" -r ${name} -o "${folder}" -e object target=${halide_target}
                       DEPENDS "${program}"
                       COMMENT "Halide's runtime for ${halide_target}"
                       VERBATIM)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_library(${name} STATIC "${object}")
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    if (NOT CMAKE_CXX_COMPILER)
        set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
    endif ()
endfunction()
