# The part of Zephyr's build that the module needs: its settings, its modules' folders, the functions that they call, and the program.
#   ZEPHYR_MODULES   the modules' folders        CONFIGURATION   a file of set(CONFIG_… y), as Kconfig has resolved them
#   BOARD_SOURCES, BOARD_SCRIPT, BOARD_CLOCK     instead of a kernel
project(Zephyr-Kernel LANGUAGES C ASM)
include("${CONFIGURATION}")
add_library(app STATIC)
target_include_directories(app PRIVATE "${CMAKE_CURRENT_LIST_DIR}/include")
set_property(GLOBAL PROPERTY zephyr_folder "${CMAKE_CURRENT_LIST_DIR}")

function(zephyr_include_directories)
    target_include_directories(app PRIVATE ${ARGN})
endfunction()

function(zephyr_library_import name file)
    add_library(${name} STATIC IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${file}")
    set_property(GLOBAL APPEND PROPERTY zephyr_libraries ${name})
endfunction()

foreach (module IN LISTS ZEPHYR_MODULES)
    file(STRINGS "${module}/zephyr/module.yml" folder REGEX "^  cmake: ")
    string(REGEX REPLACE "^  cmake: " "" folder "${folder}")
    cmake_path(GET module FILENAME name)
    add_subdirectory("${module}/${folder}" "modules/${name}")
endforeach ()

function(zephyr_finish)
    get_property(folder GLOBAL PROPERTY zephyr_folder)
    get_property(libraries GLOBAL PROPERTY zephyr_libraries)
    list(GET BOARD_SOURCES 0 start)
    set_source_files_properties("${start}" PROPERTIES COMPILE_OPTIONS "-std=gnu99;-DBOARD_MHZ=${BOARD_CLOCK}")
    cmake_path(GET start PARENT_PATH boards)
    add_executable(zephyr ${BOARD_SOURCES} "${folder}/printk.c")
    target_include_directories(zephyr PRIVATE "${boards}" "${folder}/include")
    target_link_options(zephyr PRIVATE -T "${BOARD_SCRIPT}" LINKER:--gc-sections)
    target_link_libraries(zephyr PRIVATE app ${libraries} gcc)
endfunction()
cmake_language(DEFER CALL zephyr_finish)
