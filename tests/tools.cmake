# skip_without(<what installs them> <programs>…): prints "skipped: …" and ends the including script or function where a program is
# missing. A program may be given as alternatives, with | between them.
macro(skip_without installer)
    foreach (tool IN ITEMS ${ARGN})
        string(REPLACE "|" ";" names "${tool}")
        find_program(program NAMES ${names} NO_CACHE)
        if (NOT program)
            message(STATUS "skipped: there is no ${tool}, which ${installer} installs")
            return()
        endif ()
        unset(program)
    endforeach ()
endmacro()
