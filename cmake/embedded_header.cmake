# Joins the headers of kernels, as gyre/embedded_kernels.h, and for programs with several libraries as one named like the library:
#   cmake -D HEADERS=… -D LIBRARY=<name> -D FOLDER=… -P embedded_header.cmake
set(text "")
foreach (header IN LISTS HEADERS)
    file(READ "${header}" part)
    string(APPEND text "${part}")
endforeach ()
string(TOUPPER "GYRE_KERNELS_OF_${LIBRARY}_H" guard)
string(MAKE_C_IDENTIFIER "${guard}" guard)
foreach (name IN ITEMS gyre/embedded_kernels ${LIBRARY})
    file(CONFIGURE OUTPUT "${FOLDER}/${name}.h" @ONLY CONTENT
         "/* The kernels of a library, and their bytes of workspace and of stack, *_WORKSPACE and *_STACK. Written by gyre's CMake functions. */
#ifndef @guard@
#define @guard@

#include <gyre/embedded.h>

#ifdef __cplusplus
extern \"C\" {
#endif
@text@
#ifdef __cplusplus
}
#endif
#endif
")
endforeach ()
