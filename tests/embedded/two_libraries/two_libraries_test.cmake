# A program with the objects of two libraries of kernels; two kernels of one name are refused by the linker:
#   cmake -D WORK=… -D OPTIONS=<of cmake> -D CC=… -D FLAGS=… -D SOURCES=<of the board> -D BOARD_FLAGS=… -D SCRIPT=… -D RUN=…
#         -P two_libraries_test.cmake
file(REMOVE_RECURSE "${WORK}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/kernels" -B "${WORK}" ${OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}" COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
list(GET SOURCES 0 board)
cmake_path(GET board PARENT_PATH boards)
set(plain "${WORK}/plain_kernels")
set(small "${WORK}/small_kernels")
execute_process(COMMAND "${CC}" ${FLAGS} -std=c99 -Os -ffunction-sections -Wall -Wextra -Wpedantic -Werror "-I${plain}" "-I${small}" "-I${boards}"
                        -c "${CMAKE_CURRENT_LIST_DIR}/both.c" -o "${WORK}/both.o"
                COMMAND_ERROR_IS_FATAL ANY)
set(objects "${WORK}/both.o")
foreach (source IN LISTS SOURCES)
    cmake_path(GET source STEM name)
    execute_process(COMMAND "${CC}" ${FLAGS} ${BOARD_FLAGS} -c "${source}" -o "${WORK}/${name}.o" COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND objects "${WORK}/${name}.o")
endforeach ()

function(link result_out said_out)
    execute_process(COMMAND "${CC}" ${FLAGS} -nostdlib -static -T "${SCRIPT}" -Wl,--gc-sections ${objects} ${ARGN} -lgcc -o "${WORK}/both.elf"
                    RESULT_VARIABLE result ERROR_VARIABLE said)
    set(${result_out} "${result}" PARENT_SCOPE)
    set(${said_out} "${said}" PARENT_SCOPE)
endfunction()

link(result said "${plain}/plain_kernels.o" "${small}/small_kernels.o")
if (result)
    message(FATAL_ERROR "two libraries do not link:\n${said}")
endif ()
execute_process(COMMAND ${RUN} "${WORK}/both.elf" COMMAND_ERROR_IS_FATAL ANY)
link(result said "${plain}/plain_kernels.o" "${small}/small_kernels.o" "${WORK}/again_kernels/again_kernels.o")
if (NOT result OR NOT said MATCHES "multiple definition of [^\n]*gyre_attention_f32_d16")
    message(FATAL_ERROR "two kernels of one name: expected the linker's error, got:\n${said}")
endif ()
