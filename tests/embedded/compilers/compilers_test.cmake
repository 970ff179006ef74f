# Links the demo by clang with the library by gcc, and the demo by gcc with the library by clang, and runs both on the board:
#   cmake -D WORK=… -D GCC=… -D GCC_FLAGS=… -D CLANG_FLAGS=… -D LIBRARY=<by gcc> -D LIBRARY_SOURCES=… -D DEMO_SOURCES=…
#         -D BOARD_SOURCES=… -D BOARD_FLAGS=… -D SCRIPT=… -D RUN=… -D INCLUDE=<folders> -D HALIDE=<folder> -P compilers_test.cmake
# Prints "skipped: …" where there is no clang.
include("${CMAKE_CURRENT_LIST_DIR}/../../tools.cmake")
skip_without("cmake/go bare" clang)
separate_arguments(GCC_FLAGS UNIX_COMMAND "${GCC_FLAGS}")
separate_arguments(CLANG_FLAGS UNIX_COMMAND "${CLANG_FLAGS}")
list(TRANSFORM INCLUDE PREPEND "-I")
list(GET LIBRARY_SOURCES 0 first_source)
cmake_path(GET first_source PARENT_PATH runtime)

# compile(<compiler and its flags> <folder> <objects> <sources…>): objects among the sources are taken as they are.
function(compile compiler folder objects_out)
    file(MAKE_DIRECTORY "${WORK}/${folder}")
    set(objects "")
    foreach (source IN LISTS ARGN)
        if (source MATCHES "\\.o$")
            list(APPEND objects "${source}")
            continue()
        endif ()
        cmake_path(GET source STEM name)
        execute_process(COMMAND ${compiler} ${INCLUDE} -c "${source}" -o "${WORK}/${folder}/${name}.o" COMMAND_ERROR_IS_FATAL ANY)
        list(APPEND objects "${WORK}/${folder}/${name}.o")
    endforeach ()
    set(${objects_out} "${objects}" PARENT_SCOPE)
endfunction()

function(run_demo what)
    set(program "${WORK}/${what}.elf")
    message(STATUS "${what}")
    execute_process(COMMAND "${GCC}" ${GCC_FLAGS} -nostdlib -static -T "${SCRIPT}" -Wl,--gc-sections ${board} ${ARGN} -lgcc -o
                            "${program}"
                    COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${RUN} "${program}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(strict -std=c99 -Os -ffunction-sections -fdata-sections -Wall -Wextra -Wpedantic -Werror)
set(halide -isystem "${runtime}/freestanding" -isystem "${HALIDE}")
compile("${GCC};${GCC_FLAGS};${BOARD_FLAGS};-Os" board board ${BOARD_SOURCES})
compile("clang;${CLANG_FLAGS};${strict}" demo_by_clang demo ${DEMO_SOURCES})
run_demo(demo_by_clang_library_by_gcc ${demo} "${LIBRARY}")
compile("${GCC};${GCC_FLAGS};${strict}" demo_by_gcc demo ${DEMO_SOURCES})
compile("clang;${CLANG_FLAGS};${strict};${halide}" library_by_clang library ${LIBRARY_SOURCES})
run_demo(demo_by_gcc_library_by_clang ${demo} ${library})
