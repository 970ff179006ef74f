# The shared library, and everything that `cmake --install` gives: headers, both libraries, the program, and what CMake and
# pkg-config need to find them. Nothing installed knows its prefix: the folder can be moved. The target `uninstall` removes
# what was installed.
#
# Targets go by the same names in a project that adds this folder (add_subdirectory, FetchContent) and in one that finds the
# package: gyre::static, gyre::shared, gyre::gyre, which is the first, or the second if GYRE_SHARED is true, gyre::runtime,
# without kernels, and gyre::modules.
include(GNUInstallDirs)

# The static library linked whole, so that nothing is compiled twice. Only the C API is exported: the kernels are named
# gyrekernel_…, and the version script hides them like everything else that does not begin with gyre_.
set(gyre_symbols "${PROJECT_BINARY_DIR}/gyre_symbols.map")
file(CONFIGURE OUTPUT "${gyre_symbols}" CONTENT "{ global: gyre_*; local: *; };\n")
add_library(gyre_shared SHARED "${PROJECT_SOURCE_DIR}/include/gyre/gyre.h")
target_include_directories(gyre_shared INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
                                                 "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(gyre_shared PRIVATE "$<BUILD_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,gyre>>")
# Its own calls of its own functions stay within it, whatever a program defines by the same names.
target_link_options(gyre_shared PRIVATE "LINKER:--version-script=${gyre_symbols}" "LINKER:--gc-sections"
                    "LINKER:-Bsymbolic-functions")
set_target_properties(gyre_shared PROPERTIES
                      GYRE_EXPORTS_ITS_API ON
                      OUTPUT_NAME gyre
                      LINKER_LANGUAGE CXX
                      LINK_DEPENDS "${gyre_symbols}"
                      VERSION "${PROJECT_VERSION}"
                      SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"
                      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

add_library(gyre::runtime ALIAS gyre_runtime)
add_library(gyre::static ALIAS gyre)
add_library(gyre::shared ALIAS gyre_shared)
if (GYRE_SHARED AND NOT PROJECT_IS_TOP_LEVEL)
    add_library(gyre::gyre ALIAS gyre_shared)
else ()
    add_library(gyre::gyre ALIAS gyre)
endif ()

if (NOT PROJECT_IS_TOP_LEVEL)
    return()
endif ()

# gyre_package: all that is installed.
set(gyre_installed gyre_runtime gyre gyre_shared)
if (gyre_has_modules)
    list(APPEND gyre_installed gyre_modules)
endif ()
if (GYRE_BUILD_CLI)
    list(APPEND gyre_installed gyre_cli)
endif ()
add_custom_target(gyre_package DEPENDS ${gyre_installed})
if (TARGET gyre_manual)
    add_dependencies(gyre_package gyre_manual)
endif ()
# Exported as gyre::runtime, gyre::static and gyre::shared; gyreConfig.cmake makes one of the last two gyre::gyre.
set_target_properties(gyre_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(gyre PROPERTIES EXPORT_NAME static)
set_target_properties(gyre_shared PROPERTIES EXPORT_NAME shared)
set(gyre_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gyre")
set(without_modules "")
if (NOT gyre_has_modules)
    set(without_modules PATTERN "multi_head_attention.h" EXCLUDE)
endif ()
# With the guide, whose pages link to the headers beside them.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/gyre" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.md" ${without_modules})
set(gyre_target_runtime gyre_runtime)
set(gyre_target_static gyre)
set(gyre_target_shared gyre_shared)
set(kinds runtime static shared)
if (gyre_has_modules)
    set(gyre_target_modules gyre_modules)
    set_target_properties(gyre_modules PROPERTIES EXPORT_NAME modules)
    list(APPEND kinds modules)
endif ()
foreach (kind IN LISTS kinds)
    install(TARGETS ${gyre_target_${kind}} EXPORT gyre-${kind}
            ARCHIVE COMPONENT dev
            LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev)
    install(EXPORT gyre-${kind} NAMESPACE gyre:: DESTINATION "${gyre_package_dir}" COMPONENT dev)
endforeach ()

# What gyre_add_kernels() and gyre_add_generator() need: the generators' sources, the knobs, and the functions; and for another processor than this
# build's the runtime's sources.
set(gyre_generators_dir "${CMAKE_INSTALL_DATADIR}/gyre/generators")
install(DIRECTORY "${GYRE_GENERATORS_DIR}/" DESTINATION "${gyre_generators_dir}" COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "*.cpp" PATTERN "*.S" PATTERN "*.json" PATTERN "README.md")
set(gyre_embedded_dir "${CMAKE_INSTALL_DATADIR}/gyre/embedded")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/embedded/" DESTINATION "${gyre_embedded_dir}" COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN "*.c" PATTERN "README.md" PATTERN "packages" EXCLUDE)
set(gyre_runtime_dir "${CMAKE_INSTALL_DATADIR}/gyre/runtime")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/" DESTINATION "${gyre_runtime_dir}" COMPONENT dev
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "*.cpp" PATTERN "*.c"
        PATTERN "cli" EXCLUDE PATTERN "embedded" EXCLUDE PATTERN "modules" EXCLUDE PATTERN "python" EXCLUDE)
get_property(sources GLOBAL PROPERTY GYRE_RUNTIME_SOURCES)
list(JOIN sources " " sources)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/GyreRuntimeSources.cmake" CONTENT "set(gyre_runtime_sources ${sources})\n")
install(FILES "${PROJECT_BINARY_DIR}/GyreRuntimeSources.cmake" "${CMAKE_CURRENT_LIST_DIR}/embedded_kernel.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/embedded_header.cmake" "${CMAKE_CURRENT_LIST_DIR}/embedded_stack.cmake" "${CMAKE_CURRENT_LIST_DIR}/bf16_instructions.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/cached_command.cmake" "${CMAKE_CURRENT_LIST_DIR}/file_key.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/streaming_stores.cmake"
        DESTINATION "${gyre_package_dir}" COMPONENT dev)
foreach (module IN ITEMS AddGenerator AddKernels Checks Cuda Embedded EmbeddedLibrary Families Generators Halide KernelLists Kernels Knobs OwnGenerator OwnLists Runtime Targets Variants)
    install(FILES "${CMAKE_CURRENT_LIST_DIR}/Gyre${module}.cmake" DESTINATION "${gyre_package_dir}" COMPONENT dev)
endforeach ()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

# What is linked, compiled in and used, with versions and licences (SPDX).
find_package(Python3 QUIET COMPONENTS Interpreter)
if (Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
    execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE glibc ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCH "[0-9.]+$" glibc "${glibc}")
    set(known "glibc=${glibc}" "HalideRuntime.h=${Halide_VERSION}" "CLI11=${gyre_cli11_version}" "nlohmann-json=${gyre_json_version}")
    if (CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(APPEND known "libstdc++=${CMAKE_CXX_COMPILER_VERSION}" "libgcc=${CMAKE_CXX_COMPILER_VERSION}")
    endif ()
    set(linked "$<TARGET_FILE:gyre_shared>")
    if (GYRE_BUILD_CLI)
        list(APPEND linked "$<TARGET_FILE:gyre_cli>")
    endif ()
    set(gyre_sbom "${PROJECT_BINARY_DIR}/gyre.spdx.json")
    file(GLOB requirements CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/requirements*.txt")
    add_custom_command(OUTPUT "${gyre_sbom}" VERBATIM
                       COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/sbom.py" "${gyre_sbom}" --version "${PROJECT_VERSION}"
                               --known ${known} --binary ${linked}
                       DEPENDS "${CMAKE_CURRENT_LIST_DIR}/sbom.py" "${CMAKE_CURRENT_LIST_DIR}/components.json" ${requirements} ${linked}
                       COMMENT "list of what is linked, compiled in and used")
    add_custom_target(gyre_sbom ALL DEPENDS "${gyre_sbom}")
    add_dependencies(gyre_package gyre_sbom)
    install(FILES "${gyre_sbom}" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)
endif ()
if (GYRE_BUILD_CLI)
    install(TARGETS gyre_cli RUNTIME COMPONENT tools)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/bench/plots" DESTINATION "${CMAKE_INSTALL_DATADIR}/gyre" COMPONENT tools
            FILES_MATCHING PATTERN "*.py" PATTERN gallery EXCLUDE)
    install(FILES "${PROJECT_SOURCE_DIR}/runtime/python/gyre/_drawing.py" DESTINATION "${CMAKE_INSTALL_DATADIR}/gyre/plots" RENAME drawing.py
            COMPONENT tools)
    install(FILES "${PROJECT_SOURCE_DIR}/runtime/cli/completion.bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
            RENAME gyre COMPONENT tools)
    get_property(page GLOBAL PROPERTY GYRE_MANUAL_PAGE)
    if (page)
        install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tools)
    endif ()
endif ()
include(GyrePackage)
