# How others find what is installed: files for CMake and pkg-config; packages for Debian and as an archive (cpack); and the
# target that removes an installation.
include(CMakePackageConfigHelpers)

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/gyreConfig.cmake.in" "${PROJECT_BINARY_DIR}/gyreConfig.cmake"
                              INSTALL_DESTINATION "${gyre_package_dir}"
                              PATH_VARS gyre_generators_dir gyre_embedded_dir gyre_runtime_dir CMAKE_INSTALL_INCLUDEDIR
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gyreConfigVersion.cmake" COMPATIBILITY SameMinorVersion
                                 ARCH_INDEPENDENT) # gyreConfig.cmake sees to that
install(FILES "${PROJECT_BINARY_DIR}/gyreConfig.cmake" "${PROJECT_BINARY_DIR}/gyreConfigVersion.cmake"
        DESTINATION "${gyre_package_dir}" COMPONENT dev)

# gyre.pc links the static library, like gyre::gyre: programs start wherever the library lies. A name of its own for the shared
# one, since -lgyre means that wherever both lie in one folder.
file(RELATIVE_PATH gyre_pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/") # ../../
function(gyre_write_pc name what libs)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY CONTENT
"prefix=\${pcfiledir}/@gyre_pc_prefix@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: @name@
Description: @PROJECT_DESCRIPTION@, @what@
Version: @PROJECT_VERSION@
Libs: @libs@
Cflags: -I\${includedir}
")
    install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)
endfunction()
gyre_write_pc(gyre "static library" "\${libdir}/libgyre.a -lstdc++ -lm -ldl -pthread")
gyre_write_pc(gyre-shared "shared library" "-L\${libdir} -lgyre")

add_custom_target(uninstall COMMAND "${CMAKE_COMMAND}" -D "BUILD=${PROJECT_BINARY_DIR}" -P "${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake"
                  VERBATIM)

# libgyre0.1, libgyre-dev and gyre-tools as .deb, and everything in one .tar.gz.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME gyre)
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_LIST_DIR}/debian_maintainer.cmake")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_FILE_NAME "gyre-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/open_folders.cmake")
set(CPACK_COMPONENTS_ALL runtime dev tools)
if (NOT GYRE_BUILD_CLI)
    list(REMOVE_ITEM CPACK_COMPONENTS_ALL tools)
endif ()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(soname "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME "libgyre${soname}")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libgyre-dev)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME gyre-tools)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libc6, libstdc++6")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libgyre${soname} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libc6, libstdc++6")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "python3, python3-numpy, python3-matplotlib")
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/debian/triggers" CONTENT "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/debian/triggers")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
include(CPack)
