# Headers in C, with the layout of structs, and each alone. Included by tests/CMakeLists.txt.

add_executable(gyre_c99 headers/c99_test.c)
target_compile_options(gyre_c99 PRIVATE -Wpedantic -Werror)
target_link_libraries(gyre_c99 PRIVATE gyre::gyre m)
add_test(NAME c99 COMMAND gyre_c99)
# Beside a library without this option: structs have the same layout.
add_executable(gyre_c99_short_enums headers/c99_test.c)
target_compile_options(gyre_c99_short_enums PRIVATE -Wpedantic -Werror -fshort-enums)
target_link_libraries(gyre_c99_short_enums PRIVATE gyre::gyre m)
add_test(NAME c99:short_enums COMMAND gyre_c99_short_enums)

# Every public header compiles alone, and before there are kernels.
file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/gyre/*.h" "${PROJECT_SOURCE_DIR}/include/gyre/*.hpp")
add_library(gyre_headers OBJECT)
foreach (header IN LISTS headers)
    cmake_path(GET header FILENAME name)
    string(REGEX MATCH "hpp|multi_head_attention" is_cxx "${name}")
    set(source "${CMAKE_CURRENT_BINARY_DIR}/headers/${name}$<IF:$<BOOL:${is_cxx}>,.cpp,.c>")
    file(GENERATE OUTPUT "${source}" CONTENT "#include <gyre/${name}>\n")
    target_sources(gyre_headers PRIVATE "${source}")
endforeach ()
target_compile_options(gyre_headers PRIVATE -Wpedantic -Werror)
target_include_directories(gyre_headers PRIVATE "${PROJECT_SOURCE_DIR}/include")
