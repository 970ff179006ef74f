# Read by cpack. A Debian package names who made it: DEBFULLNAME and DEBEMAIL in the environment, as Debian's own tools take them, or
# -D CPACK_PACKAGE_CONTACT="Name <address>".
if (NOT CPACK_PACKAGE_CONTACT AND NOT "$ENV{DEBEMAIL}" STREQUAL "")
    set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
    string(STRIP "${CPACK_PACKAGE_CONTACT}" CPACK_PACKAGE_CONTACT)
endif ()
if (CPACK_GENERATOR STREQUAL "DEB" AND NOT CPACK_PACKAGE_CONTACT)
    message(FATAL_ERROR "A Debian package names who made it: DEBFULLNAME='Your Name' DEBEMAIL=you@example.org cpack …; "
                        "or only the archive: cpack -G TGZ …")
endif ()
