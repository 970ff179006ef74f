# Installing, and projects downstream. The test `install` leaves a package, moved, for other tests: the fixture `installed`.
set(install_dir "${CMAKE_CURRENT_SOURCE_DIR}/install")
find_program(GYRE_PKG_CONFIG pkg-config)
add_test(NAME install
         COMMAND "${CMAKE_COMMAND}" -D "BUILD=${PROJECT_BINARY_DIR}" -D "WORK=${CMAKE_CURRENT_BINARY_DIR}/install"
                 -D "GENERATOR=${CMAKE_GENERATOR}" -D "CONFIG=$<CONFIG>" -D "NM=${CMAKE_NM}" -D "CC=${CMAKE_C_COMPILER}"
                 -D "PKG_CONFIG=$<$<BOOL:${GYRE_PKG_CONFIG}>:${GYRE_PKG_CONFIG}>" -D "MODULES=${gyre_has_modules}"
                 -P "${install_dir}/install_test.cmake")
set_tests_properties(install PROPERTIES FIXTURES_SETUP installed COST 1000 RESOURCE_LOCK install_manifest)
add_test(NAME install:uninstall
         COMMAND "${CMAKE_COMMAND}" -D "BUILD=${PROJECT_BINARY_DIR}" -D "WORK=${CMAKE_CURRENT_BINARY_DIR}/uninstall"
                 -D "CONFIG=$<CONFIG>" -P "${install_dir}/uninstall_test.cmake")
set_tests_properties(install:uninstall PROPERTIES RESOURCE_LOCK install_manifest)
add_test(NAME install:subdirectory
         COMMAND "${CMAKE_COMMAND}" -D "SOURCE=${PROJECT_SOURCE_DIR}" -D "WORK=${CMAKE_CURRENT_BINARY_DIR}/subdirectory"
                 -D "GENERATOR=${CMAKE_GENERATOR}" -D "GENERATORS=${gyre_generators_of_this_build}" -D "PYTHON=${Python3_EXECUTABLE}"
                 -D "LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}" -P "${install_dir}/subdirectory_test.cmake")
set_tests_properties(install:subdirectory PROPERTIES COST 100)
if (GYRE_PKG_CONFIG)
    add_test(NAME install:packages
             COMMAND "${CMAKE_COMMAND}" -D "BUILD=${PROJECT_BINARY_DIR}" -D "WORK=${CMAKE_CURRENT_BINARY_DIR}/packages"
                     -D "CONFIG=$<CONFIG>" -D "CC=${CMAKE_C_COMPILER}" -D "PKG_CONFIG=${GYRE_PKG_CONFIG}"
                     -P "${install_dir}/packages_test.cmake")
    set_tests_properties(install:packages PROPERTIES RESOURCE_LOCK install_manifest COST 50 SKIP_REGULAR_EXPRESSION "skipped: ")
endif ()
set(linked "$<TARGET_FILE:gyre_shared>")
if (GYRE_BUILD_CLI)
    list(APPEND linked "$<TARGET_FILE:gyre_cli>")
endif ()
add_test(NAME install:sbom COMMAND "${Python3_EXECUTABLE}" "${install_dir}/sbom_test.py" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/gyre.spdx.json"
                                   "${PROJECT_SOURCE_DIR}/cmake/README.md" ${linked})
