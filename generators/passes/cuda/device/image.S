/* A kernel's machine code as read-only data. */
    .section .rodata
    .global GYRE_IMAGE
    .balign 64
GYRE_IMAGE:
    .incbin GYRE_FATBIN
    .section .note.GNU-stack, "", %progbits
