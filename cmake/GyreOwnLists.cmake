# What gyre_add_generator() writes beside the kernels: the list that a program reads, and the recipes that the tuner reads.

# gyre_json_object(<name=value list> <out>): {"name": "value", …}
function(gyre_json_object pairs out)
    list(TRANSFORM pairs REPLACE "^([^=]+)=(.*)$" "\"\\1\": \"\\2\"")
    list(JOIN pairs ", " members)
    set(${out} "{${members}}" PARENT_SCOPE)
endfunction()

# gyre_own_kernel_row(<library> <target> <attributes> <evidence>): remembers a row of the library's list.
function(gyre_own_kernel_row library target attributes evidence)
    set(symbol "${library}__${target}")
    set(image 0)
    if (GYRE_TARGET_${target}_DEVICE)
        set(image "${symbol}_image")
        set_property(GLOBAL APPEND_STRING PROPERTY GYRE_OWN_IMAGES_${library} "extern const unsigned char ${image}[];\n")
    endif ()
    string(STRIP "${attributes}" attributes)
    set_property(GLOBAL APPEND_STRING PROPERTY GYRE_OWN_ROWS_${library}
                 "    {\"${symbol}\", \"${library}\", \"\", \"${target}\", \"${attributes}\", \"${evidence}\", ${symbol}_argv, ${image}, ${symbol}_metadata},\n")
endfunction()

# gyre_write_own_list(<library> <targets> <folder>): <library>.h and <library>.c.
function(gyre_write_own_list library targets folder)
    get_property(rows GLOBAL PROPERTY GYRE_OWN_ROWS_${library})
    get_property(images GLOBAL PROPERTY GYRE_OWN_IMAGES_${library})
    set(includes "")
    foreach (target IN LISTS targets)
        string(APPEND includes "#include \"${library}__${target}.h\"\n")
    endforeach ()
    list(LENGTH targets count)
    file(CONFIGURE OUTPUT "${folder}/${library}.h" @ONLY CONTENT
         "/* The kernels of @library@. Written by gyre_add_generator(). */
#pragma once
#include <gyre/kernels.h>

@includes@
#ifdef __cplusplus
extern \"C\" {
#endif
enum { @library@_kernel_count = @count@ };
/** Best target first. */
extern const gyre_kernel @library@_kernels[@library@_kernel_count];
#ifdef __cplusplus
}
#endif
")
    file(CONFIGURE OUTPUT "${folder}/${library}.c" @ONLY CONTENT
         "/* Written by gyre_add_generator(). */
#include \"@library@.h\"

@images@
const gyre_kernel @library@_kernels[@library@_kernel_count] = {
@rows@};
")
endfunction()

# gyre_write_own_recipes(<library> <targets> <program> <generator> <features> <runtime's object>): recipes.json, which tells the tuner how the kernels
# are made whose knobs are declared.
function(gyre_write_own_recipes library targets program generator features runtime)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${library}")
    if (NOT arg_KNOBS)
        return()
    endif ()
    set(recipes "")
    foreach (target IN LISTS targets)
        if (GYRE_TARGET_${target}_DEVICE OR GYRE_TARGET_${target}_STAND_INS OR arg_STREAMING_STORES)
            continue() # what the tuner measures runs here, and comes out of Halide
        endif ()
        gyre_read_knobs("${arg_TUNING}" ${target} ${library} "" knobs evidence)
        gyre_json_object("${arg_PARAMS}" parameters)
        gyre_json_object("${knobs}" knobs)
        string(APPEND recipes "    {\"operation\": \"${library}\", \"variant\": \"\", \"target\": \"${target}\", \"generator\": \"${program}\",\n"
               "     \"halide_target\": \"${GYRE_TARGET_${target}_HALIDE}${features}\", \"registered\": \"${generator}\",\n"
               "     \"declaration\": \"${arg_KNOBS}\", \"runtime\": \"${runtime}\",\n"
               "     \"parameters\": ${parameters}, \"knobs\": ${knobs}},\n")
    endforeach ()
    string(REGEX REPLACE ",\n$" "\n" recipes "${recipes}")
    get_target_property(halide Halide::Halide LOCATION)
    cmake_path(GET halide PARENT_PATH halide)
    cmake_path(GET arg_KNOBS PARENT_PATH tuning)
    file(CONFIGURE OUTPUT "${folder}/recipes.json" @ONLY CONTENT
         "{\"compiler\": \"@CMAKE_C_COMPILER@\", \"objcopy\": \"@CMAKE_OBJCOPY@\", \"include\": \"@GYRE_INCLUDE_DIR@\",
 \"tuning\": \"@tuning@\", \"generators\": \"@GYRE_GENERATORS_DIR@\", \"halide_libraries\": \"@halide@\",
 \"kernels\": [
@recipes@]}
")
endfunction()
