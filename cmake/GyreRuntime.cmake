# gyre_add_runtime(<target> FOLDER <the folder runtime> INCLUDE <the folder of gyre/gyre.h> GENERATORS <the folder generators>
#                  SOURCES <files>)
#
# A static library of the runtime, with kernels or with no_prebuilt_kernels.c among its SOURCES. What kernels are called with is in
# GENERATORS. The rows of GyreTargets.cmake and of families.json are written into the current binary directory, where sources include
# them.

function(gyre_add_runtime name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;INCLUDE;GENERATORS" "SOURCES")
    gyre_write_target_list("${CMAKE_CURRENT_BINARY_DIR}/gyre_targets.inc")
    gyre_write_family_list("${CMAKE_CURRENT_BINARY_DIR}/gyre_families.inc")
    add_library(${name} STATIC ${arg_SOURCES})
    target_include_directories(${name}
                               PUBLIC "$<BUILD_INTERFACE:${arg_INCLUDE}>" "$<INSTALL_INTERFACE:include>"
                               PRIVATE "${arg_FOLDER}" "${arg_GENERATORS}" "${CMAKE_CURRENT_BINARY_DIR}"
                                       "$<TARGET_PROPERTY:Halide::Runtime,INTERFACE_INCLUDE_DIRECTORIES>")
    target_link_libraries(${name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
    target_compile_options(${name} PRIVATE -ffunction-sections -fdata-sections) # for programs that are linked by --gc-sections
    if (NOT (PROJECT_IS_TOP_LEVEL AND PROJECT_NAME STREQUAL "gyre"))
        # A warning of a compiler that was not tried must not stop somebody's project.
        target_compile_options(${name} PRIVATE -Wno-error)
    endif ()
    # Where a project joins sources into units (CMAKE_UNITY_BUILD): these have names of their own that others have, too.
    set(apart ${arg_SOURCES})
    list(FILTER apart INCLUDE REGEX "(attention/(dispatch/kernels|merge/task)|cache/append|cuda/(device|driver/functions|driver/launch)|linear/kernels|rotary/(angles|rotary_kernel)|core/no_prebuilt_kernels)[.]cp*$")
    set_source_files_properties(${apart} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    # Reading these takes longer than compiling most files that include them.
    set(headers algorithm array cmath cstring memory mutex new string string_view vector gyre/gyre.h)
    list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
    target_precompile_headers(${name} PRIVATE ${headers})
    set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
                          VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# gyre_add_installed_runtime(): gyre::runtime from the sources of an installed package, for another processor than the
# package's. HalideRuntime.h comes from the Halide that makes the project's kernels.
function(gyre_add_installed_runtime)
    get_property(folder GLOBAL PROPERTY GYRE_RUNTIME_DIR)
    get_property(include GLOBAL PROPERTY GYRE_INCLUDE_DIR)
    get_property(generators GLOBAL PROPERTY GYRE_GENERATORS_DIR)
    include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/GyreRuntimeSources.cmake")
    list(TRANSFORM gyre_runtime_sources PREPEND "${folder}/")
    gyre_add_runtime(gyre_runtime FOLDER "${folder}" INCLUDE "${include}" GENERATORS "${generators}"
                     SOURCES ${gyre_runtime_sources})
    set_target_properties(gyre_runtime PROPERTIES EXCLUDE_FROM_ALL ON POSITION_INDEPENDENT_CODE ON
                          CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF C_STANDARD 99)
    add_library(gyre::runtime ALIAS gyre_runtime)
endfunction()
