# The generator programs. They run on the machine that builds, whatever is built for, so they are compiled by one command
# each with that machine's compiler: a project that cross-compiles needs no second configuration.
#
#   GYRE_HOST_CXX     the compiler; default: the project's own, or when cross-compiling the first of c++, g++ and clang++
#   GYRE_GENERATORS   a folder of these programs, gyre_generators of another build: used as they are

# gyre_require_generator(<operation> <score file, or ""> <program>): sees to it that the program is built, once, and tells
# its path. It is also a target, gyre_<name>_generator.
function(gyre_require_generator operation score program_out)
    set(name "${operation}")
    set(score_flags "")
    if (score)
        get_filename_component(score_name "${score}" NAME_WE)
        set(name "${operation}_${score_name}")
        set(score_flags "-DGYRE_SCORE=${score_name}" "-DGYRE_SCORE_FILE=\"${score}\"")
    endif ()
    set(folder "${CMAKE_BINARY_DIR}/gyre_generators")
    set(program "${folder}/gyre_${name}.generator")
    if (GYRE_GENERATORS)
        set(program "${GYRE_GENERATORS}/gyre_${name}.generator")
    endif ()
    set(${program_out} "${program}" PARENT_SCOPE)
    if (TARGET gyre_${name}_generator)
        get_target_property(known gyre_${name}_generator GYRE_SCORE_FILE)
        if (NOT known STREQUAL "${score}")
            message(FATAL_ERROR "gyre: two score functions are called ${score_name}: ${known} and ${score}")
        endif ()
        return()
    endif ()
    if (GYRE_GENERATORS)
        add_custom_target(gyre_${name}_generator)
        set_target_properties(gyre_${name}_generator PROPERTIES GYRE_SCORE_FILE "${score}")
        return()
    endif ()

    gyre_find_host_compiler(compiler)
    set(folders ${operation} common)
    if (EXISTS "${GYRE_GENERATORS_DIR}/${operation}/${operation}_cuda_generator.cpp" AND NOT score)
        list(APPEND folders cuda)
    endif ()
    list(TRANSFORM folders REPLACE "(.+)" "${GYRE_GENERATORS_DIR}/\\1/*.cpp")
    file(GLOB sources CONFIGURE_DEPENDS ${folders})
    if (score) # no kernel for CUDA takes one
        list(FILTER sources EXCLUDE REGEX "/[a-z_]*cuda[a-z_]*\\.cpp$")
    endif ()
    # Halide's header takes seconds to read: one translation unit.
    set(unit "")
    foreach (source IN LISTS sources)
        string(APPEND unit "#include \"${source}\"\n")
    endforeach ()
    file(CONFIGURE OUTPUT "${folder}/${name}.cpp" CONTENT "${unit}" @ONLY)
    get_target_property(halide_include Halide::Halide INTERFACE_INCLUDE_DIRECTORIES)
    add_custom_command(
        OUTPUT "${program}"
        COMMAND "${compiler}" -std=c++17 -O1 ${score_flags} -isystem "${halide_include}" "-I${GYRE_GENERATORS_DIR}"
                -MMD -MF "${program}.d" -MT "${program}" "${folder}/${name}.cpp" -o "${program}"
                "$<TARGET_FILE:Halide::GenGen>" "$<TARGET_FILE:Halide::Halide>"
                "-Wl,-rpath,$<TARGET_FILE_DIR:Halide::Halide>" -ldl -pthread
        DEPENDS "${folder}/${name}.cpp" ${sources} ${score}
        DEPFILE "${program}.d"
        COMMENT "generator ${name}"
        VERBATIM)
    add_custom_target(gyre_${name}_generator DEPENDS "${program}")
    set_target_properties(gyre_${name}_generator PROPERTIES GYRE_SCORE_FILE "${score}")
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
