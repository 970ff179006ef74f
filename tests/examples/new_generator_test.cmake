# What `gyre new-generator` writes, built from the installed package alone: its passes are compiled here, no clone is read. Then the same for 64-bit
# ARM, where there are a compiler and an emulator; and its knobs searched by `gyre tune`, where Python has optuna.
#
#     cmake -D PREFIX=<installed package> -D WORK=<scratch directory> -D GENERATOR=<name> -D PYTHON=<that has Halide> -P …

include("${CMAKE_CURRENT_LIST_DIR}/../tools.cmake")

function(build_and_run folder program)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "OPTIONS;RUN")
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${WORK}/swiglu" -B "${folder}" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${PREFIX}"
                            -DCMAKE_BUILD_TYPE=Release "-DPython3_EXECUTABLE=${PYTHON}" ${arg_OPTIONS}
                    COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}" --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${arg_RUN} "${folder}/${program}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(try_arm)
    skip_without("cmake/go arm" aarch64-linux-gnu-g++ qemu-aarch64)
    build_and_run("${WORK}/arm" swiglu_program OPTIONS --toolchain "${WORK}/swiglu/aarch64.cmake" "-DGYRE_GENERATORS=${WORK}/build/gyre_generators"
                  RUN qemu-aarch64 -L /usr/aarch64-linux-gnu)
    message(STATUS "on emulated ARM: done")
endfunction()

# tune(<kernel> <folder of its recipes> <out>): what gyre tune says.
function(tune kernel folder out)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env "GYRE_PYTHON=${PYTHON}" "${PREFIX}/bin/gyre" tune ${kernel} --build "${folder}"
                            --tuning "${WORK}/tuning" --studies "${WORK}/studies" --trials 4 --trial-seconds 0.05 --final-seconds 0.2
                    OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE failed)
    message(STATUS "gyre tune ${kernel}: ${said}")
    if (failed)
        message(FATAL_ERROR "gyre tune ${kernel}: ${failed}")
    endif ()
    set(${out} "${said}" PARENT_SCOPE)
endfunction()

function(try_tuning)
    execute_process(COMMAND "${PYTHON}" -c "import optuna" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
    if (missing OR NOT EXISTS "${PREFIX}/bin/gyre_tune_runner")
        message(STATUS "skipped: there is no optuna or no gyre_tune_runner, which cmake/go test makes")
        return()
    endif ()
    tune(swiglu "${WORK}/build/swiglu" said)
    file(GLOB trials "${WORK}/studies/swiglu__*")
    if (NOT trials OR said MATCHES "not built|wrong|failed|crashed")
        message(FATAL_ERROR "gyre tune swiglu: expected trials that are right")
    endif ()

    # A knob that changes results.
    set(wrong "${CMAKE_CURRENT_LIST_DIR}/../on_demand/generator_mistakes")
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${wrong}" -B "${WORK}/wrong" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${PREFIX}"
                            "-DPython3_EXECUTABLE=${PYTHON}" "-DGYRE_GENERATORS=${WORK}/build/gyre_generators" -DGYRE_CUDA=OFF
                            "-DWORDS=twice SOURCES twice.cpp TARGETS host KNOBS knobs.json"
                    COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/wrong" COMMAND_ERROR_IS_FATAL ANY)
    tune(twice "${WORK}/wrong/twice" said)
    if (NOT said MATCHES "wrong")
        message(FATAL_ERROR "gyre tune twice: expected that times=3 is wrong")
    endif ()
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
execute_process(COMMAND "${PREFIX}/bin/gyre" new-generator swiglu --out "${WORK}/swiglu" COMMAND_ERROR_IS_FATAL ANY)
build_and_run("${WORK}/build" swiglu_program)
try_tuning()
try_arm()
