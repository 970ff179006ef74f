# What is written of a library's kernels, for those who do not make them.

# gyre_write_kernel_list(<library> <flavour> <file>): the kernels of this flavour as C, which registers them with the runtime.
function(gyre_write_kernel_list library flavour file)
    get_property(folder GLOBAL PROPERTY GYRE_${library}_FOLDER)
    set(declarations "")
    set(rows "")
    foreach (target IN LISTS GYRE_KNOWN_TARGETS)
        get_property(kernels GLOBAL PROPERTY GYRE_${library}_ROWS_${target})
        foreach (kernel IN LISTS kernels)
            string(REPLACE "|" ";" fields "${kernel}")
            list(POP_FRONT fields operation variant attributes evidence)
            set(name "${operation}_${variant}__${target}")
            gyre_made_flavour("${library}" ${flavour} "${name}" ${target} made)
            if (NOT made)
                continue()
            endif ()
            set(symbol "gyrekernel_${library}_${name}")
            string(APPEND declarations "int ${symbol}_argv(void **);\n"
                                       "const struct halide_filter_metadata_t *${symbol}_metadata(void);\n")
            set(image 0)
            if (GYRE_TARGET_${target}_DEVICE)
                set(image "${symbol}_image")
                string(APPEND declarations "extern const unsigned char ${image}[];\n")
            endif ()
            string(APPEND rows "    {\"${name}\", \"${operation}\", \"${variant}\", \"${target}\", \"${attributes} \"\n"
                               "#include \"${folder}/${made}/${symbol}.inc\"\n"
                               "     , \"${evidence}\", ${symbol}_argv, ${image}, ${symbol}_metadata},\n")
        endforeach ()
    endforeach ()
    # The kernels of the library gyre are part of the runtime, which asks for them; others call the runtime.
    if (library STREQUAL "gyre")
        set(finish "")
        gyre_asks_for_masks(${library} masks)
        if (masks)
            set(finish "extern const char gyre_attention_masks;
__attribute__((used)) static const void *const masks_part = &gyre_attention_masks;\n")
        endif ()
        string(APPEND finish "const gyre_kernel_library *gyre_prebuilt_kernels(void);
const gyre_kernel_library *gyre_prebuilt_kernels(void) { return &library; }\n")
    else ()
        set(finish "
/* Where this fails, gyre_last_error() tells why, and calls do not find the kernels. */
__attribute__((constructor)) static void add_library(void) { gyre_register_kernels(&library); }
__attribute__((destructor)) static void remove_library(void) { gyre_unregister_kernels(&library); }
")
    endif ()
    file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
         "/* The kernels of the library @library@, best target first. Written by gyre's CMake functions. */
#include <gyre/kernels.h>

@declarations@
static const gyre_kernel kernels[] = {
@rows@};
static const gyre_kernel_library library = {sizeof library, GYRE_KERNEL_INTERFACE, \"@library@\", kernels,
                                            sizeof kernels / sizeof kernels[0]};
@finish@")
endfunction()

# gyre_write_recipes(<library> <file>): how each kernel is made, as JSON, for the tuner.
function(gyre_write_recipes library file)
    set(recipes "")
    set(recipes_of_devices "") # whose kernels the tuner cannot run here, nor does Halide compile them
    foreach (target IN LISTS GYRE_KNOWN_TARGETS)
        set(list recipes)
        if (GYRE_TARGET_${target}_DEVICE)
            set(list recipes_of_devices)
        endif ()
        get_property(kernels GLOBAL PROPERTY GYRE_${library}_ROWS_${target})
        foreach (kernel IN LISTS kernels)
            string(REPLACE "|" ";" fields "${kernel}")
            list(POP_FRONT fields operation variant attributes evidence generator knobs knobs_of stand_ins)
            if (stand_ins)
                continue()
            endif ()
            string(REGEX REPLACE "([a-z0-9_]+)=([^ ;]+)[ ;]?" "\"\\1\": \"\\2\", " parameters "${attributes}")
            string(REGEX REPLACE "([a-z0-9_]+)=([^ ;]+)[ ;]?" "\"\\1\": \"\\2\", " knobs "${knobs}")
            set(of_another "")
            if (NOT knobs_of STREQUAL variant)
                set(of_another ", \"knobs_of\": \"${knobs_of}\"")
            endif ()
            string(APPEND ${list} "    {\"operation\": \"${operation}\", \"variant\": \"${variant}\", \"target\": \"${target}\",\n"
                "     \"generator\": \"${generator}\", \"halide_target\": \"${GYRE_TARGET_${target}_HALIDE}${gyre_halide_shipped}\",\n"
                "     \"parameters\": {${parameters}}, \"knobs\": {${knobs}}${of_another}},\n")
        endforeach ()
    endforeach ()
    foreach (list IN ITEMS recipes recipes_of_devices)
        string(REPLACE ", }" "}" ${list} "${${list}}")
        string(REGEX REPLACE ",\n$" "\n" ${list} "${${list}}")
    endforeach ()
    get_target_property(halide Halide::Halide LOCATION)
    get_filename_component(halide "${halide}" DIRECTORY)
    set(compiler "${CMAKE_C_COMPILER}")
    get_property(tuning GLOBAL PROPERTY GYRE_${library}_TUNING)
    list(GET tuning 0 tuning)
    get_filename_component(tuning "${tuning}" DIRECTORY)
    file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
         "{\"compiler\": \"@compiler@\", \"objcopy\": \"@CMAKE_OBJCOPY@\", \"include\": \"@GYRE_INCLUDE_DIR@\",
 \"tuning\": \"@tuning@\", \"generators\": \"@GYRE_GENERATORS_DIR@\", \"halide_libraries\": \"@halide@\",
 \"kernels\": [
@recipes@],
 \"nvcc\": \"@GYRE_CUDA_COMPILER@\", \"device_kernels\": [
@recipes_of_devices@]}
")
endfunction()
