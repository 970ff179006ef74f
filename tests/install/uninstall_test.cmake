# What an installation leaves and `uninstall` removes; and an installation of a build that is not whole stops:
#
#     cmake -D BUILD=<build directory> -D WORK=<scratch directory> -D CONFIG=<build type> -P uninstall_test.cmake
file(REMOVE_RECURSE "${WORK}")

# The script of BUILD's installation, changed as if a library were missing.
file(READ "${BUILD}/cmake_install.cmake" script)
function(install result_out output_out)
    execute_process(COMMAND "${CMAKE_COMMAND}" -D "CMAKE_INSTALL_PREFIX=${WORK}/prefix" -D "CMAKE_INSTALL_CONFIG_NAME=${CONFIG}"
                            -P "${WORK}/cmake_install.cmake"
                    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    set(${result_out} "${result}" PARENT_SCOPE)
    set(${output_out} "${output}" PARENT_SCOPE)
endfunction()
function(refuse what expected)
    install(result output)
    string(FIND "${output}" "${expected}" at)
    if (result EQUAL 0 OR at EQUAL -1)
        message(FATAL_ERROR "${what}: expected \"${expected}\", got ${result}: ${output}")
    endif ()
    if (EXISTS "${WORK}/prefix")
        message(FATAL_ERROR "${what}: some of it was installed all the same")
    endif ()
endfunction()

string(REPLACE "libgyre_runtime.a" "libgyre_nowhere.a" incomplete "${script}")
file(WRITE "${WORK}/cmake_install.cmake" "${incomplete}")
refuse("without libgyre_runtime.a" "--target gyre_package`, then install")
string(REPLACE "${BUILD}/demo-limits" "${BUILD}/CMakeCache.txt" demo "${script}")
file(WRITE "${WORK}/cmake_install.cmake" "${demo}")
refuse("after the demo" "Run `cmake/go build`, then install.")

# The manifest of BUILD's own installation, if there is one, stays.
if (EXISTS "${BUILD}/install_manifest.txt")
    file(RENAME "${BUILD}/install_manifest.txt" "${WORK}/kept_install_manifest.txt")
endif ()
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${WORK}/prefix" OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
file(MAKE_DIRECTORY "${WORK}/build")
file(RENAME "${BUILD}/install_manifest.txt" "${WORK}/build/install_manifest.txt")
if (EXISTS "${WORK}/kept_install_manifest.txt")
    file(RENAME "${WORK}/kept_install_manifest.txt" "${BUILD}/install_manifest.txt")
endif ()
file(GLOB_RECURSE installed "${WORK}/prefix/*")
if (NOT installed)
    message(FATAL_ERROR "nothing was installed")
endif ()
file(WRITE "${WORK}/prefix/include/other.h" "")
execute_process(COMMAND "${CMAKE_COMMAND}" -D "BUILD=${WORK}/build" -P "${CMAKE_CURRENT_LIST_DIR}/../../cmake/uninstall.cmake"
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE left LIST_DIRECTORIES TRUE RELATIVE "${WORK}/prefix" "${WORK}/prefix/*")
list(FILTER left INCLUDE REGEX "gyre")
if (left OR NOT EXISTS "${WORK}/prefix/include/other.h")
    message(FATAL_ERROR "left by uninstall: ${left}")
endif ()
