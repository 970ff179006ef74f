# The project beside this file with gyre's sources as a part of it, as FetchContent does: the same targets as with the package.
#
#     cmake -D SOURCE=<clone> -D WORK=<scratch directory> -D GENERATOR=<name> -D GENERATORS=<folder of their programs>
#           -D PYTHON=<that has Halide> -D LAUNCHER=<ccache, or empty> -P subdirectory_test.cmake
file(REMOVE_RECURSE "${WORK}")
foreach (shared IN ITEMS ON OFF) # the second is built
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK}" -G "${GENERATOR}"
                            "-DGYRE_SOURCE=${SOURCE}" -DGYRE_SHARED=${shared} "-DGYRE_GENERATORS=${GENERATORS}"
                            "-DPython3_EXECUTABLE=${PYTHON}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" -DCMAKE_UNITY_BUILD=ON -DGYRE_CUDA=OFF -DGYRE_TARGETS=host "-DGYRE_OPS=rotary;attention"
                            "-DGYRE_FEATURES=half;causal;rope;roper" -DGYRE_HEAD_DIMS=64 -DGYRE_PADDED_HEAD_DIMS=64
                            -DGYRE_MATRIX_HEAD_DIMS= -DGYRE_MATRIX_PADDED_HEAD_DIMS= -DGYRE_ATTENTION_DTYPES=f32
                    COMMAND_ERROR_IS_FATAL ANY)
endforeach ()
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}" COMMAND_ERROR_IS_FATAL ANY)
foreach (program IN ITEMS c_static c_shared cpp_static cpp_shared cpp_modules)
    if (EXISTS "${WORK}/${program}" OR NOT program STREQUAL "cpp_modules")
        execute_process(COMMAND "${WORK}/${program}" COMMAND_ERROR_IS_FATAL ANY)
    endif ()
endforeach ()
