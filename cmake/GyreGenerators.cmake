# The generator programs. They run on the machine that builds, whatever is built for, so they are compiled by that
# machine's compiler in commands of their own: a project that cross-compiles needs no second configuration.
#
#   GYRE_HOST_CXX     the compiler; default: the project's own, or when cross-compiling the first of c++, g++ and clang++
#   GYRE_GENERATORS   a folder of these programs, gyre_generators of another build: used as they are. A score function of the
#                     project's own is compiled, and linked with that build's objects
#
# Beside each program lies <program>.key, the checksums of it and of Halide (cached_command.cmake).

set(gyre_file_key "${CMAKE_CURRENT_LIST_DIR}/file_key.cmake")

# gyre_require_generator(<operation> <score file, or ""> <program>): sees to it that the program is built, once, and tells
# its path. It is also a target, gyre_<name>_generator.
function(gyre_require_generator operation score program_out)
    set(name "${operation}")
    set(score_flags "")
    if (score)
        get_filename_component(score_name "${score}" NAME_WE)
        set(name "${operation}_${score_name}")
        set(score_flags "-DGYRE_SCORE_FILE=\"${score}\"")
    endif ()
    set(folder "${CMAKE_BINARY_DIR}/gyre_generators")
    set(parts_folder "${folder}")
    set(used_as_it_is FALSE)
    if (GYRE_GENERATORS)
        set(parts_folder "${GYRE_GENERATORS}")
        gyre_score_of("${GYRE_GENERATORS}/gyre_${name}" there)
        if (there STREQUAL score)
            set(used_as_it_is TRUE)
            set(folder "${GYRE_GENERATORS}")
        endif ()
    endif ()
    set(program "${folder}/gyre_${name}.generator")
    set(${program_out} "${program}" PARENT_SCOPE)
    if (TARGET gyre_${name}_generator)
        get_target_property(known gyre_${name}_generator GYRE_SCORE_FILE)
        if (NOT known STREQUAL "${score}")
            message(FATAL_ERROR "gyre: two score functions are called ${score_name}: ${known} and ${score}")
        endif ()
        return()
    endif ()
    if (used_as_it_is)
        add_custom_target(gyre_${name}_generator)
        set_target_properties(gyre_${name}_generator PROPERTIES GYRE_SCORE_FILE "${score}")
        return()
    endif ()

    gyre_place_halide("${folder}")
    gyre_generator_command("${parts_folder}" command)
    gyre_generator_folder(${operation} source_folder)
    set(parts ${operation} common math passes)
    if (EXISTS "${source_folder}/${operation}_cuda_generator.cpp")
        list(APPEND parts cuda)
    endif ()
    gyre_require_generator_parts("${parts}" "${folder}" "${command}" objects targets)
    # What a score function changes is one file.
    file(GLOB_RECURSE score_source "${source_folder}/score_function.cpp")
    if (score_source)
        list(APPEND command ${score_flags} -MMD -MF "${program}.d" -MT "${program}" "${score_source}")
        set(depfile DEPFILE "${program}.d")
    else ()
        set(score_source "")
        set(depfile "")
    endif ()
    if (score)
        file(WRITE "${folder}/gyre_${name}.score" "${score}")
    endif ()
    gyre_link_generator("${program}" "${command};${objects}" "${objects};${targets};${score_source};${score}" "generator ${name}" ${depfile})
    add_custom_target(gyre_${name}_generator DEPENDS "${program}")
    set_target_properties(gyre_${name}_generator PROPERTIES GYRE_SCORE_FILE "${score}")
endfunction()

# gyre_require_generator_parts(<parts> <folder> <command> <objects> <targets>): the objects of these folders of generators/, and the
# targets that make them. There are none where GYRE_GENERATORS has the objects.
function(gyre_require_generator_parts parts folder command objects_out targets_out)
    set(objects "")
    set(targets "")
    foreach (part IN LISTS parts)
        if (GYRE_GENERATORS)
            list(APPEND objects "${GYRE_GENERATORS}/${part}.o")
        else ()
            list(APPEND objects "${folder}/${part}.o")
            gyre_compile_generator_part(${part} "${folder}" "${command}")
            list(APPEND targets gyre_generator_part_${part})
        endif ()
    endforeach ()
    set(${objects_out} "${objects}" PARENT_SCOPE)
    set(${targets_out} "${targets}" PARENT_SCOPE)
endfunction()

# gyre_link_generator(<program> <command with what is linked> <what it depends on> <comment> [DEPFILE <file>]): makes the program and
# its key. Halide is beside it.
function(gyre_link_generator program command depends comment)
    cmake_path(GET program PARENT_PATH folder)
    gyre_export_nothing("${folder}" symbols)
    add_custom_command(
        OUTPUT "${program}" "${program}.key"
        COMMAND ${command} -o "${program}" "$<TARGET_FILE:Halide::GenGen>" "$<TARGET_FILE:Halide::Halide>"
                "-Wl,-rpath,\$ORIGIN/halide" "-Wl,--version-script=${symbols}" -ldl -pthread
        COMMAND "${CMAKE_COMMAND}" -D "FILES=${program};${folder}/halide.key" -D "OUT=${program}.key" -P "${gyre_file_key}"
        DEPENDS ${depends} "${symbols}" "${folder}/halide.key"
        ${ARGN}
        COMMENT "${comment}"
        VERBATIM)
endfunction()

# gyre_export_nothing(<folder> <out>): a version script for programs on Halide. Without it such a program exports the templates of the
# standard library and of Halide.h that it has itself, and within Halide these, which are not optimised, run instead of Halide's own.
function(gyre_export_nothing folder out)
    set(symbols "${folder}/exports_nothing.map")
    file(CONFIGURE OUTPUT "${symbols}" CONTENT "{ local: *; };\n" @ONLY)
    set(${out} "${symbols}" PARENT_SCOPE)
endfunction()

# gyre_generator_folder(<name> <out>): the folder of that name in generators/, or in one of its folders: an operation owns its
# sub-kernels.
function(gyre_generator_folder name out)
    file(GLOB folder "${GYRE_GENERATORS_DIR}/${name}" "${GYRE_GENERATORS_DIR}/*/${name}")
    list(LENGTH folder count)
    if (NOT count EQUAL 1)
        message(FATAL_ERROR "gyre: ${GYRE_GENERATORS_DIR} has ${count} folders called ${name}, expected one")
    endif ()
    set(${out} "${folder}" PARENT_SCOPE)
endfunction()

# gyre_generator_sources(<name> <out>): the sources of gyre_generator_folder(), and of the folders in it but for those that are parts
# of their own: sub-kernels, which have a generator, and cuda.
function(gyre_generator_sources name out)
    gyre_generator_folder(${name} folder)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
    file(GLOB parts CONFIGURE_DEPENDS "${folder}/*/*_generator.cpp" "${folder}/cuda/*.cpp")
    foreach (part IN LISTS parts)
        cmake_path(GET part PARENT_PATH part_folder)
        file(GLOB of_part "${part_folder}/*.cpp")
        list(REMOVE_ITEM sources ${of_part})
    endforeach ()
    set(${out} "${sources}" PARENT_SCOPE)
endfunction()

# gyre_score_of(<stem of a program of another build> <out>): the path of the score function that it has; "" if it has none.
function(gyre_score_of stem out)
    set(score "")
    if (EXISTS "${stem}.score")
        file(READ "${stem}.score" score)
    endif ()
    set(${out} "${score}" PARENT_SCOPE)
endfunction()

# gyre_generator_command(<folder of the parts> <out>): how a file of generators/ is compiled, but for what it is and becomes.
function(gyre_generator_command folder out)
    gyre_find_host_compiler(compiler)
    get_target_property(halide_include Halide::Halide INTERFACE_INCLUDE_DIRECTORIES)
    # No path of this folder is left in the program: builds in several folders make the same one. Nothing is optimised: what takes a
    # generator's time is Halide.
    set(${out} "${compiler}" -std=c++17 -O0 "-ffile-prefix-map=${GYRE_GENERATORS_DIR}=generators"
               "-ffile-prefix-map=${folder}=." "-ffile-prefix-map=${halide_include}=halide" -isystem "${halide_include}"
               "-I${GYRE_GENERATORS_DIR}" -include "${folder}/precompiled.h" PARENT_SCOPE)
endfunction()

# gyre_place_halide(<folder>): links Halide's library folder to <folder>/halide, where the programs look for it, and makes its key,
# <folder>/halide.key; once.
function(gyre_place_halide folder)
    get_target_property(library Halide::Halide LOCATION)
    cmake_path(GET library PARENT_PATH libraries)
    file(MAKE_DIRECTORY "${folder}")
    file(CREATE_LINK "${libraries}" "${folder}/halide" SYMBOLIC)
    get_property(placed GLOBAL PROPERTY GYRE_HALIDE_PLACED)
    if (placed)
        return()
    endif ()
    set_property(GLOBAL PROPERTY GYRE_HALIDE_PLACED TRUE)
    add_custom_command(OUTPUT "${folder}/halide.key"
                       COMMAND "${CMAKE_COMMAND}" -D "FILES=${library}" -D "OUT=${folder}/halide.key" -P "${gyre_file_key}"
                       DEPENDS "${library}"
                       COMMENT "Halide's checksum"
                       VERBATIM)
    add_custom_target(gyre_halide_key DEPENDS "${folder}/halide.key")
endfunction()

# gyre_compile_generator_part(<name of a folder of generators/> <folder> <compiler and options>): sees to it that its sources are compiled
# into <folder>/<its name>.o, once for all programs that take it, but for score_function.cpp.
function(gyre_compile_generator_part part folder command)
    if (TARGET gyre_generator_part_${part})
        return()
    endif ()
    gyre_precompile_halide("${folder}" "${command}")
    if (part STREQUAL "cuda") # whose passes and printer would take as long as Halide, with the header read once more
        list(TRANSFORM command REPLACE "^-O0$" -O1)
    endif ()
    set(stem "${folder}/${part}")
    gyre_generator_sources(${part} sources)
    list(FILTER sources EXCLUDE REGEX "/score_function\\.cpp$")
    # One translation unit: what these files share is compiled once.
    set(unit "")
    foreach (source IN LISTS sources)
        string(APPEND unit "#include \"${source}\"\n")
    endforeach ()
    file(CONFIGURE OUTPUT "${stem}.cpp" CONTENT "${unit}" @ONLY)
    add_custom_command(
        OUTPUT "${stem}.o"
        COMMAND ${command} -MMD -MF "${stem}.d" -MT "${stem}.o" -c "${stem}.cpp" -o "${stem}.o"
        DEPENDS "${stem}.cpp" "${folder}/precompiled.h.gch" ${sources}
        DEPFILE "${stem}.d"
        COMMENT "generators: ${part}"
        VERBATIM)
    add_custom_target(gyre_generator_part_${part} DEPENDS "${stem}.o")
    add_dependencies(gyre_generator_part_${part} gyre_precompiled_halide)
endfunction()

# gyre_precompile_halide(<folder> <compiler and options>): Halide's header, which takes seconds to read, once for all parts.
# Where a compiler cannot use what another left, it reads the header itself.
function(gyre_precompile_halide folder command)
    if (TARGET gyre_precompiled_halide)
        return()
    endif ()
    set(header "${folder}/precompiled.h")
    file(CONFIGURE OUTPUT "${header}" CONTENT "#include <Halide.h>\n" @ONLY)
    list(POP_BACK command) # -include, and this header
    list(POP_BACK command)
    get_target_property(halide_include Halide::Halide INTERFACE_INCLUDE_DIRECTORIES)
    add_custom_command(
        OUTPUT "${header}.gch"
        COMMAND ${command} -x c++-header "${header}" -o "${header}.gch"
        DEPENDS "${header}" "${halide_include}/Halide.h"
        COMMENT "generators: Halide's header"
        VERBATIM)
    add_custom_target(gyre_precompiled_halide DEPENDS "${header}.gch")
endfunction()

function(gyre_find_host_compiler out)
    if (GYRE_HOST_CXX)
        set(${out} "${GYRE_HOST_CXX}" PARENT_SCOPE)
    elseif (CMAKE_CXX_COMPILER AND NOT CMAKE_CROSSCOMPILING)
        set(${out} "${CMAKE_CXX_COMPILER}" PARENT_SCOPE)
    else ()
        find_program(GYRE_HOST_CXX NAMES c++ g++ clang++ NO_CMAKE_FIND_ROOT_PATH
                     DOC "C++ compiler for the machine that builds: kernel generators run there")
        if (NOT GYRE_HOST_CXX)
            message(FATAL_ERROR "gyre: generators need a C++ compiler for this machine; name one in GYRE_HOST_CXX")
        endif ()
        set(${out} "${GYRE_HOST_CXX}" PARENT_SCOPE)
    endif ()
endfunction()
