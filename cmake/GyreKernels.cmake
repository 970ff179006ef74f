# gyre_add_kernel(<operation> VARIANT <name> PARAMS <name=value>…)
#
# Makes the kernel <operation>_<VARIANT>__<target> for every target in GYRE_TARGETS with the generator of that operation, and
# adds it to the list that the runtime links. PARAMS fix what the kernel computes; how is up to the knobs in
# generators/tuning/<target>.json. Each kernel is one command of its own: after a knob has changed only that kernel is made.
function(gyre_add_kernel operation)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "VARIANT" "PARAMS")
    foreach (target IN LISTS GYRE_TARGETS)
        set(name "${operation}_${arg_VARIANT}__${target}")
        gyre_read_knobs("${target}" "${operation}" "${arg_VARIANT}" knobs evidence)
        gyre_make_object(shipped "${operation}" "${name}" "${target}" "${arg_PARAMS};${knobs}")
        if (GYRE_BUILD_TESTS)
            gyre_make_object(checked "${operation}" "${name}" "${target}" "${arg_PARAMS};${knobs}")
        endif ()
        list(JOIN arg_PARAMS " " attributes)
        set_property(GLOBAL APPEND PROPERTY GYRE_KERNELS
                     "${name}|${operation}|${arg_VARIANT}|${target}|${attributes}|${evidence}")
    endforeach ()
endfunction()

# gyre_make_object(shipped|checked <operation> <kernel> <target> <parameters>)
#
# shipped: no assertions, no bounds queries, and memory from hooks whose names no other Halide library uses.
# checked: everything on, with Halide's own runtime; for tests.
function(gyre_make_object flavour operation name target parameters)
    set(folder "${PROJECT_BINARY_DIR}/kernels/${flavour}")
    file(MAKE_DIRECTORY "${folder}")
    set(symbol "gyrekernel_${name}")
    set(object "${folder}/${symbol}.o")
    set(halide_target "${GYRE_TARGET_${target}_HALIDE}-no_runtime-user_context")
    set(rename "")
    if (flavour STREQUAL shipped)
        string(APPEND halide_target "-no_asserts-no_bounds_query")
        set(rename COMMAND "${CMAKE_OBJCOPY}" --redefine-sym halide_malloc=gyre_kernel_malloc
                   --redefine-sym halide_free=gyre_kernel_free "${object}")
    endif ()
    set(listings "")
    if (GYRE_LISTINGS)
        set(listings ",stmt,assembly")
    endif ()
    add_custom_command(
        OUTPUT "${object}" "${folder}/${symbol}.inc"
        COMMAND gyre_${operation}.generator -g ${operation} -f ${symbol} -o "${folder}" -e object${listings}
                target=${halide_target} ${parameters} "facts=${folder}/${symbol}.inc"
        ${rename}
        DEPENDS gyre_${operation}.generator
        COMMENT "kernel ${name} (${flavour})"
        VERBATIM)
    set_property(GLOBAL APPEND PROPERTY GYRE_OBJECTS_${flavour} "${object}")
endfunction()

# gyre_read_knobs(<target> <operation> <variant> <knobs> <evidence>): "name=value" list of the kernel's own entry in the tuning
# database, else of its operation's default; and where they come from, in one line.
function(gyre_read_knobs target operation variant knobs_out evidence_out)
    set(file "${PROJECT_SOURCE_DIR}/generators/tuning/${target}.json")
    set(knobs "")
    set(evidence "default")
    if (EXISTS "${file}")
        set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
        file(READ "${file}" text)
        string(JSON entry ERROR_VARIABLE missing GET "${text}" kernels "${operation}_${variant}")
        if (missing)
            string(JSON entry ERROR_VARIABLE missing GET "${text}" defaults "${operation}")
        else ()
            string(JSON evidence ERROR_VARIABLE no_evidence GET "${entry}" evidence)
            string(REGEX REPLACE "[\"{}\n\r]+ *" "" evidence "${evidence}")
            string(REPLACE ";" "," evidence "${evidence}")
        endif ()
        if (NOT missing)
            string(JSON values GET "${entry}" knobs)
            string(JSON count LENGTH "${values}")
            foreach (n RANGE 1 ${count})
                math(EXPR index "${n} - 1")
                string(JSON knob MEMBER "${values}" ${index})
                string(JSON value GET "${values}" ${knob})
                list(APPEND knobs "${knob}=${value}")
            endforeach ()
        endif ()
    endif ()
    set(${knobs_out} "${knobs}" PARENT_SCOPE)
    set(${evidence_out} "${evidence}" PARENT_SCOPE)
endfunction()

# gyre_write_kernel_list(<flavour> <file>): the C++ table of every kernel that gyre_add_kernel() made, best target first.
function(gyre_write_kernel_list flavour file)
    get_property(kernels GLOBAL PROPERTY GYRE_KERNELS)
    set(declarations "")
    foreach (kernel IN LISTS kernels)
        string(REPLACE "|" ";" fields "${kernel}")
        list(POP_FRONT fields name operation variant target attributes evidence)
        set(symbol "gyrekernel_${name}")
        string(APPEND declarations "int ${symbol}_argv(void **);\n")
        string(APPEND rows_${target}
               "    {\"${name}\", \"${operation}\", \"${variant}\", \"${target}\", \"${attributes} \"\n"
               "#include \"${PROJECT_BINARY_DIR}/kernels/${flavour}/${symbol}.inc\"\n"
               "     , \"${evidence}\", ${symbol}_argv},\n")
    endforeach ()
    set(rows "")
    foreach (target IN LISTS GYRE_KNOWN_TARGETS)
        string(APPEND rows "${rows_${target}}")
    endforeach ()
    file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
         "// Every linked kernel, best target first. Written by cmake/GyreKernels.cmake.
#include \"registry.h\"

extern \"C\" {
@declarations@}

static const gyre_kernel kernels[] = {
@rows@};

const gyre_kernel_library *gyre::prebuilt_kernels() {
    static const gyre_kernel_library library{sizeof library, GYRE_KERNEL_INTERFACE, \"gyre\", kernels,
                                             sizeof kernels / sizeof kernels[0]};
    return &library;
}
")
endfunction()

# gyre_finish_kernels(): call once after the last gyre_add_kernel() of a folder; gives other folders targets to depend on.
function(gyre_finish_kernels)
    foreach (flavour IN ITEMS shipped checked)
        get_property(objects GLOBAL PROPERTY GYRE_OBJECTS_${flavour})
        if (objects)
            add_custom_target(gyre_kernels_${flavour} DEPENDS ${objects})
        endif ()
    endforeach ()
endfunction()
