/* A fat binary that holds no machine code: a driver says that there is none for its device. */
    .section .rodata
    .global GYRE_IMAGE
    .balign 64
GYRE_IMAGE:
    .long 0xba55ed50
    .short 1, 16
    .quad 0
    .section .note.GNU-stack, "", %progbits
