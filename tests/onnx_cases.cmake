# One entry in ctest for each node test of the Python package onnx. Without the package: one entry, and ctest says that it was
# not run.
set(onnx_cases "${CMAKE_CURRENT_SOURCE_DIR}/conformance/onnx_cases.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${onnx_cases}")
execute_process(COMMAND "${Python3_EXECUTABLE}" "${onnx_cases}" list
                RESULT_VARIABLE result OUTPUT_VARIABLE cases ERROR_VARIABLE error OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_STRIP_TRAILING_WHITESPACE)
if (result EQUAL 0)
    string(REPLACE "\n" ";" cases "${cases}")
    foreach (case IN LISTS cases)
        add_test(NAME "onnx:${case}"
                 COMMAND "${Python3_EXECUTABLE}" "${onnx_cases}" run "${case}" --gyre "${gyre_program}")
    endforeach ()
else ()
    string(REGEX REPLACE ".*\n" "" error "${error}") # the last line of what Python says
    message(STATUS "gyre: without the ONNX node tests: ${error}")
    add_test(NAME "onnx:all" COMMAND "${Python3_EXECUTABLE}" "${onnx_cases}" run all --gyre "${gyre_program}")
    set_tests_properties("onnx:all" PROPERTIES DISABLED ON)
endif ()
