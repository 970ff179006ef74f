# The reference by Doxygen has no warnings, holds every function, and is refused where a field has no comment:
#
#     cmake -D HEADERS=<include/gyre> -D WORK=<scratch directory> -D VERSION=<of the project> -P reference_test.cmake
#
# Prints "skipped: …" where there is no Doxygen.
include("${CMAKE_CURRENT_LIST_DIR}/../tools.cmake")
skip_without("cmake/go doc" doxygen)
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/reference" "${WORK}/refused")

# document(<folder of headers> <folder to write into>): sets `result` and `said`.
function(document headers folder)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env "GYRE_VERSION=${VERSION}" "GYRE_DOC=${folder}" doxygen
                    WORKING_DIRECTORY "${headers}" RESULT_VARIABLE result ERROR_VARIABLE said OUTPUT_QUIET)
    set(result "${result}" PARENT_SCOPE)
    set(said "${said}" PARENT_SCOPE)
endfunction()

document("${HEADERS}" "${WORK}/reference")
if (NOT result EQUAL 0 OR said)
    message(FATAL_ERROR "doxygen (${result}):\n${said}")
endif ()
file(GLOB pages "${WORK}/reference/xml/*_8h.xml")
set(documented "")
foreach (page IN LISTS pages)
    file(READ "${page}" text)
    string(APPEND documented "${text}")
endforeach ()
file(GLOB headers "${HEADERS}/*.h")
set(count 0)
foreach (header IN LISTS headers)
    file(READ "${header}" text)
    string(REGEX MATCHALL "\n(GYRE_API|gyre_embedded_status) [^;(]*[ *](gyre_[a-z0-9_]+)\\(" functions "${text}")
    foreach (function IN LISTS functions)
        string(REGEX REPLACE ".*[ *](gyre_[a-z0-9_]+)\\($" "\\1" name "${function}")
        if (NOT documented MATCHES "<name>${name}</name>")
            message(SEND_ERROR "${name} of ${header} has no page")
        endif ()
        math(EXPR count "${count} + 1")
    endforeach ()
endforeach ()
message(STATUS "${count} functions")
if (count LESS 40)
    message(FATAL_ERROR "expected at least 40 functions")
endif ()

file(COPY "${HEADERS}/" DESTINATION "${WORK}/headers")
file(READ "${WORK}/headers/cache.h" text)
string(REPLACE "} gyre_cache_append_args;" "    int32_t stranger;\n} gyre_cache_append_args;" changed "${text}")
file(WRITE "${WORK}/headers/cache.h" "${changed}")
document("${WORK}/headers" "${WORK}/refused")
if (result EQUAL 0 OR NOT said MATCHES "stranger")
    message(FATAL_ERROR "a field without a comment was accepted (${result}): ${said}")
endif ()
