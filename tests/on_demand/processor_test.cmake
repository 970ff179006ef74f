# A package for another processor than the project's. No cross compiler is needed for what is said, and for a part of
# gyre::runtime to be compiled from source: this machine's compiler stands for one. on_demand:cross_package does the whole.
#
#     cmake -D PREFIX=<installed package> -D WORK=<scratch directory> -D GENERATOR=<name> -P processor_test.cmake
file(REMOVE_RECURSE "${WORK}")
file(WRITE "${WORK}/toolchain.cmake" "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR riscv64)\n")

# configure(<languages> <arguments of find_package> <whether it is to fail> <what is said>)
function(configure languages words fails expected)
    file(WRITE "${WORK}/project/CMakeLists.txt" "cmake_minimum_required(VERSION 3.24)
project(elsewhere LANGUAGES ${languages})
find_package(gyre ${words} REQUIRED)
if (TARGET gyre::gyre OR TARGET gyre::static OR TARGET gyre::shared OR NOT TARGET gyre::runtime)
    message(FATAL_ERROR \"targets of the wrong processor\")
endif ()
get_property(folder GLOBAL PROPERTY GYRE_RUNTIME_DIR)
add_library(a_part OBJECT \"\${folder}/core/registry.cpp\" \"\${folder}/rotary/rotary_call.cpp\")
target_include_directories(a_part PRIVATE \"$<TARGET_PROPERTY:gyre::runtime,INCLUDE_DIRECTORIES>\")
target_compile_features(a_part PRIVATE cxx_std_17)
")
    execute_process(COMMAND "${CMAKE_COMMAND}" --fresh -S "${WORK}/project" -B "${WORK}/build" -G "${GENERATOR}"
                            --toolchain "${WORK}/toolchain.cmake" "-DCMAKE_PREFIX_PATH=${PREFIX}"
                    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    string(FIND "${output}" "${expected}" at)
    if ((fails AND result EQUAL 0) OR (NOT fails AND NOT result EQUAL 0) OR at EQUAL -1)
        message(FATAL_ERROR "project in ${languages}, ${words}: expected \"${expected}\", got ${result}:\n${output}")
    endif ()
endfunction()

set(told "this project is for riscv64: it gets gyre::runtime, from source, and its kernels by gyre_add_kernels()")
configure("C" "" TRUE "The runtime is C++: project(… LANGUAGES C CXX)")
configure("C CXX" "COMPONENTS static" TRUE "${told}")
configure("C CXX" "" FALSE "${told}")
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/build" --target a_part COMMAND_ERROR_IS_FATAL ANY)
