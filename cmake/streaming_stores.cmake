# Replaces stores of vectors, in the assembly of an x86-64 kernel that writes nothing but its output, by vmovntps: that stores
# past the caches, to addresses that are multiples of the vector. Stores to the stack stay what they are. A kernel whose vectors
# are stored by other instructions is an error.
#   cmake -D ASSEMBLY=<file> -P streaming_stores.cmake

file(READ "${ASSEMBLY}" text)
string(REPLACE "(%rsp" "(stack" text "${text}")
set(place "[-0-9]*\\(%[^\n{]+\n")
string(REGEX REPLACE "\tvmov(u|a|dqu|dqa)(ps|pd|8|16|32|64)?\t(%[yz]mm[0-9]+), (${place})" "\tvmovntps\t\\3, \\4" streamed "${text}")
string(REGEX MATCH "\tv(cvtps2ph|extract[a-z0-9]+|pmov[a-z0-9]+)\t[^\n]*mm[0-9]+, ${place}" left "${streamed}")
if (streamed STREQUAL text OR left)
    message(FATAL_ERROR "${ASSEMBLY}: expected vectors to be stored by vmov, got:${left}")
endif ()
string(REPLACE "(stack" "(%rsp" streamed "${streamed}")
file(WRITE "${ASSEMBLY}" "${streamed}")
