# Links the demo by clang with the library by gcc, and the demo by gcc with the library by clang, and runs both on the board; and links by lld:
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

# lld links the demo as well. It takes the library and its one object as they are.
find_program(lld NAMES ld.lld NO_CACHE)
if (lld)
    execute_process(COMMAND "${GCC}" ${GCC_FLAGS} -print-libgcc-file-name OUTPUT_VARIABLE compiler_library OUTPUT_STRIP_TRAILING_WHITESPACE
                    COMMAND_ERROR_IS_FATAL ANY)
    cmake_path(GET LIBRARY PARENT_PATH folder)
    foreach (linked IN ITEMS "${LIBRARY}" "${folder}/gyre_embedded/gyre_embedded.o")
        message(STATUS "lld: ${linked}")
        execute_process(COMMAND "${lld}" --gc-sections -T "${SCRIPT}" ${board} ${demo} "${linked}" "${compiler_library}" -o "${WORK}/by_lld.elf"
                        COMMAND_ERROR_IS_FATAL ANY)
        execute_process(COMMAND ${RUN} "${WORK}/by_lld.elf" COMMAND_ERROR_IS_FATAL ANY)
    endforeach ()
else ()
    message(STATUS "there is no ld.lld: linked by GNU ld alone")
endif ()
