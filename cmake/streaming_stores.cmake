# Replaces stores of vectors, in the assembly of an x86-64 kernel that writes nothing but its output, by vmovntps: that stores
# past the caches, to addresses that are multiples of the vector. Stores to the stack stay what they are, where the stack pointer
# itself tells them. A kernel that stores vectors through another register with an address on the stack, or by other instructions, is
# an error.
#   cmake -D ASSEMBLY=<file> -P streaming_stores.cmake

# gyre_frame_registers(<out> <assembly>): the registers beside the stack pointer that anything in a function gives an address on the stack.
function(gyre_frame_registers out function)
    set(registers "")
    set(known "rsp")
    while (TRUE)
        string(REGEX MATCHALL "\t((mov|add|sub|and|or|cmov[a-z]+)q\t%(${known})|leaq\t[^\n]*\\([^\n]*%(${known})[,)][^\n]*), %r[a-z0-9]+\n"
               copies "${function}")
        string(REGEX MATCHALL "%r[a-z0-9]+\n" copies "${copies}")
        string(REGEX REPLACE "[%\n]" "" copies "${copies}")
        list(APPEND copies ${registers})
        list(REMOVE_DUPLICATES copies)
        list(REMOVE_ITEM copies rsp)
        list(SORT copies)
        if (copies STREQUAL registers)
            break()
        endif ()
        set(registers "${copies}")
        list(JOIN registers "|" known)
        string(PREPEND known "rsp|")
    endwhile ()
    set(${out} "${registers}" PARENT_SCOPE)
endfunction()

file(READ "${ASSEMBLY}" text)
string(REPLACE ";" "," functions "${text}") # of lists
string(REPLACE "\t.cfi_endproc\n" ";" functions "${functions}")
foreach (function IN LISTS functions)
    gyre_frame_registers(registers "${function}")
    foreach (register IN LISTS registers)
        string(REGEX MATCH "\tv[a-z0-9]+\t[^\n]*mm[0-9]+, [^\n(]*\\([^\n]*%${register}[,)][^\n]*" store "${function}")
        if (store)
            message(FATAL_ERROR "${ASSEMBLY}: %${register} has addresses on the stack, and a vector is stored through it:${store}")
        endif ()
    endforeach ()
endforeach ()

string(REPLACE "(%rsp" "(stack" text "${text}")
set(place "[-0-9]*\\(%[^\n{]+\n")
string(REGEX REPLACE "\tvmov(u|a|dqu|dqa)(ps|pd|8|16|32|64)?\t(%[yz]mm[0-9]+), (${place})" "\tvmovntps\t\\3, \\4" streamed "${text}")
string(REGEX MATCH "\tv(cvtps2ph|extract[a-z0-9]+|pmov[a-z0-9]+)\t[^\n]*mm[0-9]+, ${place}" left "${streamed}")
if (streamed STREQUAL text OR left)
    message(FATAL_ERROR "${ASSEMBLY}: expected vectors to be stored by vmov, got:${left}")
endif ()
string(REPLACE "(stack" "(%rsp" streamed "${streamed}")
file(WRITE "${ASSEMBLY}" "${streamed}")
