# Joins the headers of kernels: cmake -D HEADERS=… -D OUT=… -P embedded_header.cmake
set(text "")
foreach (header IN LISTS HEADERS)
    file(READ "${header}" part)
    string(APPEND text "${part}")
endforeach ()
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT
     "/* The kernels of a library, and their bytes of workspace and of stack, *_WORKSPACE and *_STACK. Written by gyre's CMake functions. */
#ifndef GYRE_EMBEDDED_KERNELS_H
#define GYRE_EMBEDDED_KERNELS_H

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
