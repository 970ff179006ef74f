# gyre_doc: the reference of the headers, build/doc/html/index.html; include/gyre/Doxyfile says how. Where there is no Doxygen,
# there is no such target.
find_package(Doxygen QUIET)
if (NOT DOXYGEN_FOUND)
    return()
endif ()
file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/gyre/*")
set(page "${PROJECT_BINARY_DIR}/doc/html/index.html")
add_custom_command(OUTPUT "${page}"
                   COMMAND "${CMAKE_COMMAND}" -E rm -rf "${PROJECT_BINARY_DIR}/doc"
                   COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/doc"
                   COMMAND "${CMAKE_COMMAND}" -E env "GYRE_VERSION=${PROJECT_VERSION}" "GYRE_DOC=${PROJECT_BINARY_DIR}/doc"
                           "${DOXYGEN_EXECUTABLE}"
                   DEPENDS ${headers} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}/include/gyre" VERBATIM)
add_custom_target(gyre_doc DEPENDS "${page}")
