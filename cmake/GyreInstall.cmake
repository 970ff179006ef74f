# The shared library, and everything that `cmake --install` gives: headers, both libraries, the program, and what CMake and
# pkg-config need to find them. Nothing installed knows its prefix: the folder can be moved.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# The static library linked whole, so that nothing is compiled twice. Only the C API is exported: the kernels are named
# gyrekernel_…, and the version script hides them like everything else that does not begin with gyre_.
set(gyre_symbols "${PROJECT_BINARY_DIR}/gyre_symbols.map")
file(CONFIGURE OUTPUT "${gyre_symbols}" CONTENT "{ global: gyre_*; local: *; };\n")
add_library(gyre_shared SHARED "${PROJECT_SOURCE_DIR}/include/gyre/gyre.h")
add_library(gyre::gyre_shared ALIAS gyre_shared)
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

if (NOT PROJECT_IS_TOP_LEVEL)
    return()
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
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/gyre" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" ${without_modules})
set(gyre_target_runtime gyre_runtime)
set(gyre_target_static gyre)
set(gyre_target_shared gyre_shared)
foreach (kind IN ITEMS runtime static shared)
    set(target ${gyre_target_${kind}})
    install(TARGETS ${target} EXPORT gyre-${kind})
    install(EXPORT gyre-${kind} NAMESPACE gyre:: DESTINATION "${gyre_package_dir}")
endforeach ()
if (gyre_has_modules)
    set_target_properties(gyre_modules PROPERTIES EXPORT_NAME modules)
    install(TARGETS gyre_modules EXPORT gyre-modules)
    install(EXPORT gyre-modules NAMESPACE gyre:: DESTINATION "${gyre_package_dir}")
endif ()

# What gyre_add_kernels() needs: the generators' sources, the knobs, and the functions.
set(gyre_generators_dir "${CMAKE_INSTALL_DATADIR}/gyre/generators")
install(DIRECTORY "${GYRE_GENERATORS_DIR}/" DESTINATION "${gyre_generators_dir}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp" PATTERN "*.S" PATTERN "*.json" PATTERN "README.md")
set(gyre_embedded_dir "${CMAKE_INSTALL_DATADIR}/gyre/embedded")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/embedded/" DESTINATION "${gyre_embedded_dir}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.c" PATTERN "README.md")
install(FILES "${CMAKE_CURRENT_LIST_DIR}/embedded_kernel.cmake" "${CMAKE_CURRENT_LIST_DIR}/embedded_header.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/bf16_instructions.cmake" "${CMAKE_CURRENT_LIST_DIR}/streaming_stores.cmake"
        DESTINATION "${gyre_package_dir}")
foreach (module IN ITEMS AddKernels Cuda Embedded EmbeddedLibrary Generators Halide Kernels Knobs Targets Variants)
    install(FILES "${CMAKE_CURRENT_LIST_DIR}/Gyre${module}.cmake" DESTINATION "${gyre_package_dir}")
endforeach ()

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/gyreConfig.cmake.in" "${PROJECT_BINARY_DIR}/gyreConfig.cmake"
                              INSTALL_DESTINATION "${gyre_package_dir}"
                              PATH_VARS gyre_generators_dir gyre_embedded_dir CMAKE_INSTALL_INCLUDEDIR NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gyreConfigVersion.cmake" COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT) # gyreConfig.cmake sees to that
install(FILES "${PROJECT_BINARY_DIR}/gyreConfig.cmake" "${PROJECT_BINARY_DIR}/gyreConfigVersion.cmake"
        DESTINATION "${gyre_package_dir}")

file(RELATIVE_PATH gyre_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/") # ../../
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/gyre.pc" @ONLY CONTENT
"prefix=\${pcfiledir}/@gyre_pc_prefix@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: gyre
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Libs: -L\${libdir} -lgyre
Libs.private: -lstdc++ -lm -pthread
Cflags: -I\${includedir}
")
install(FILES "${PROJECT_BINARY_DIR}/gyre.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

if (GYRE_BUILD_CLI)
    install(TARGETS gyre_cli)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/bench/plots" DESTINATION "${CMAKE_INSTALL_DATADIR}/gyre"
            FILES_MATCHING PATTERN "*.py")
endif ()
