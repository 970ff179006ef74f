# The packages of cpack, unpacked into an empty folder each: a program is built with libgyre0.1 and libgyre-dev, another with the
# archive, and the program of gyre-tools runs.
#
#     cmake -D BUILD=<build directory> -D WORK=<scratch directory> -D CONFIG=<build type> -D CC=<compiler>
#           -D PKG_CONFIG=<program> -P packages_test.cmake
function(run what)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if (NOT result EQUAL 0)
        message(FATAL_ERROR "${what} failed (${result}):\n${output}")
    endif ()
    set(output "${output}" PARENT_SCOPE)
endfunction()

# try_program(<name> <prefix> <word for pkg-config>): tests/install/consumer.c with what lies below the prefix.
function(try_program name prefix word)
    run("building ${name}" "${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${prefix}/lib/pkgconfig" sh -c
        "'${CC}' '${CMAKE_CURRENT_LIST_DIR}/consumer.c' -o '${WORK}/${name}' $('${PKG_CONFIG}' --cflags --libs ${word}) -lm")
    run("running ${name}" "${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${prefix}/lib" "${WORK}/${name}")
endfunction()

file(REMOVE_RECURSE "${WORK}")
cmake_path(GET CMAKE_COMMAND PARENT_PATH programs)
run("cpack" "${programs}/cpack" --config "${BUILD}/CPackConfig.cmake" -C "${CONFIG}" -B "${WORK}")
file(GLOB archive "${WORK}/*.tar.gz")
file(MAKE_DIRECTORY "${WORK}/archive")
run("unpacking ${archive}" "${CMAKE_COMMAND}" -E chdir "${WORK}/archive" "${CMAKE_COMMAND}" -E tar xf "${archive}")
file(GLOB prefix "${WORK}/archive/gyre-*")
run("the archive's program" "${prefix}/bin/gyre" info)
try_program(with_archive "${prefix}" gyre)

find_program(dpkg_deb dpkg-deb)
if (NOT dpkg_deb)
    message(STATUS "skipped: there is no dpkg-deb; the archive was tried")
    return()
endif ()
foreach (package IN ITEMS libgyre0.1 libgyre-dev gyre-tools)
    file(GLOB file "${WORK}/${package}_*.deb")
    run("unpacking ${package}" "${dpkg_deb}" -x "${file}" "${WORK}/${package}")
    file(GLOB_RECURSE files RELATIVE "${WORK}/${package}/usr" "${WORK}/${package}/*")
    list(LENGTH files count)
    message(STATUS "${package}: ${count} files")
    foreach (path IN LISTS files)
        if (seen_${path})
            message(FATAL_ERROR "${path} is in ${package} and in ${seen_${path}}")
        endif ()
        set(seen_${path} ${package})
    endforeach ()
    file(COPY "${WORK}/${package}/usr/" DESTINATION "${WORK}/root") # as installed together
endforeach ()
foreach (expected IN ITEMS "libgyre-dev|include/gyre/gyre.h" "libgyre-dev|lib/libgyre.a" "libgyre-dev|lib/libgyre.so"
         "libgyre0.1|lib/libgyre.so.0.1" "gyre-tools|bin/gyre" "gyre-tools|share/man/man1/gyre.1"
         "gyre-tools|share/bash-completion/completions/gyre" "gyre-tools|share/gyre/tune/tune.py")
    string(REPLACE "|" ";" expected "${expected}")
    list(GET expected 0 package)
    list(GET expected 1 path)
    if (NOT seen_${path} STREQUAL package)
        message(FATAL_ERROR "${path} is in '${seen_${path}}', expected ${package}")
    endif ()
endforeach ()
run("gyre-tools' program" "${WORK}/gyre-tools/usr/bin/gyre" info)
try_program(with_static "${WORK}/root" gyre)
try_program(with_shared "${WORK}/root" gyre-shared)
file(GLOB file "${WORK}/libgyre-dev_*.deb")
run("asking libgyre-dev" "${dpkg_deb}" -f "${file}" Depends)
if (NOT output MATCHES "^libgyre0.1 \\(= ")
    message(FATAL_ERROR "libgyre-dev depends on ${output}")
endif ()
