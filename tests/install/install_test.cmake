# Installs a build, moves the folder, and builds and runs the project beside this file with it:
#
#     cmake -D BUILD=<build directory> -D WORK=<scratch directory> -D GENERATOR=<name> -D CONFIG=<build type>
#           -D NM=<program> -D PKG_CONFIG=<program, or empty> -D MODULES=<were they built> -P install_test.cmake

function(run what)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if (NOT result EQUAL 0)
        message(FATAL_ERROR "${what} failed (${result}):\n${output}")
    endif ()
    string(STRIP "${output}" output)
    message(STATUS "${what}: done")
    set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
set(prefix "${WORK}/moved to/prefix") # with a blank: such folders exist
run("install" "${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${WORK}/installed")
file(MAKE_DIRECTORY "${WORK}/moved to")
file(RENAME "${WORK}/installed" "${prefix}")

run("the moved program" "${prefix}/bin/gyre" info)
file(GLOB shared_library "${prefix}/lib*/libgyre.so" "${prefix}/lib/*/libgyre.so")
run("listing what the shared library exports" "${NM}" -D --defined-only "${shared_library}")
string(REGEX MATCHALL "[^ \n]+(\n|$)" symbols "${output}")
foreach (symbol IN LISTS symbols)
    if (NOT symbol MATCHES "^gyre_")
        message(FATAL_ERROR "the shared library exports ${symbol}")
    endif ()
endforeach ()

file(GLOB list_of_components "${prefix}/share/doc/gyre/gyre.spdx.json")
if (NOT list_of_components)
    message(FATAL_ERROR "no gyre.spdx.json in ${prefix}/share/doc/gyre")
endif ()

# The guide, and whatever its pages link to, but for the layers, which an installation may lack.
foreach (page IN ITEMS README promises devices)
    file(READ "${prefix}/include/gyre/${page}.md" text)
    string(REGEX MATCHALL "[(][a-z_]+[.](md|hpp|h)[)#]" links "${text}")
    foreach (link IN LISTS links)
        string(REGEX REPLACE "[()#]" "" link "${link}")
        if (NOT EXISTS "${prefix}/include/gyre/${link}" AND NOT link STREQUAL "multi_head_attention.h")
            message(FATAL_ERROR "include/gyre/${page}.md links to ${link}, which is not installed")
        endif ()
    endforeach ()
endforeach ()

run("configuring the downstream project" "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK}/build" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_BUILD_TYPE=${CONFIG}" -DCMAKE_DISABLE_FIND_PACKAGE_Halide=ON
    "-DGYRE_MODULES=${MODULES}")
run("building it" "${CMAKE_COMMAND}" --build "${WORK}/build" --config "${CONFIG}")
set(programs c_static c_shared cpp_static cpp_shared)
if (MODULES)
    list(APPEND programs cpp_modules)
endif ()
foreach (program IN LISTS programs)
    run("running ${program}" "${WORK}/build/${program}")
    message(STATUS "${output}")
endforeach ()

# Components that are not there are named, with the reason.
function(refuse_component expected words)
    file(WRITE "${WORK}/component/CMakeLists.txt" "cmake_minimum_required(VERSION 3.16)\nproject(component LANGUAGES C)\nfind_package(gyre REQUIRED ${words})\n")
    execute_process(COMMAND "${CMAKE_COMMAND}" --fresh -S "${WORK}/component" -B "${WORK}/component/build" -G "${GENERATOR}"
                            "-DCMAKE_PREFIX_PATH=${prefix}" ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    string(FIND "${output}" "${expected}" at)
    if (result EQUAL 0 OR at EQUAL -1)
        message(FATAL_ERROR "find_package(gyre ${words}): expected \"${expected}\", got ${result}:\n${output}")
    endif ()
endfunction()
refuse_component("sharde is no component; valid: runtime, static, shared, modules" "COMPONENTS sharde")
refuse_component("component modules" "COMPONENTS static modules" -DBLA_VENDOR=Nobodys)

# CMake before 3.18, whose words the package's file then does without.
file(WRITE "${WORK}/older/CMakeLists.txt" "cmake_minimum_required(VERSION 3.16)
project(older LANGUAGES C)
set(CMAKE_VERSION 3.16.3)
find_package(gyre 0.1 REQUIRED)
get_target_property(aliased gyre::gyre ALIASED_TARGET)
if (aliased)
    message(FATAL_ERROR \"gyre::gyre is an alias, which CMake 3.16 refuses\")
endif ()
add_executable(older \"${CMAKE_CURRENT_LIST_DIR}/consumer.c\")
target_link_libraries(older PRIVATE gyre::gyre m)
")
run("configuring as CMake 3.16" "${CMAKE_COMMAND}" -S "${WORK}/older" -B "${WORK}/older/build" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${prefix}")
run("building it" "${CMAKE_COMMAND}" --build "${WORK}/older/build")
run("running it" "${WORK}/older/build/older")

run("choosing the shared library" "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK}/build" -DGYRE_SHARED=ON)

# Plain commands: a program with the library inside, with and without --static, and one with the shared library.
if (PKG_CONFIG)
    file(GLOB pkgconfig_dir "${prefix}/lib*/pkgconfig" "${prefix}/lib/*/pkgconfig")
    cmake_path(GET shared_library PARENT_PATH library_dir)
    set(source "${CMAKE_CURRENT_LIST_DIR}/consumer.c")
    foreach (words IN ITEMS "gyre" "--static gyre" "gyre-shared")
        string(MAKE_C_IDENTIFIER "${words}" name)
        run("building with pkg-config ${words}" "${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${pkgconfig_dir}" sh -c
            "eval \"'${CC}' '${source}' -o '${WORK}/${name}' $('${PKG_CONFIG}' --cflags --libs ${words}) -lm\"")
        set(search "LD_LIBRARY_PATH=")
        if (words STREQUAL "gyre-shared")
            set(search "LD_LIBRARY_PATH=${library_dir}")
        endif ()
        run("running it" "${CMAKE_COMMAND}" -E env "${search}" "${WORK}/${name}")
    endforeach ()
endif ()
