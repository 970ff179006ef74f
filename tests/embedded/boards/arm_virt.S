// Start-up of qemu's board `virt` (32-bit ARM), semihosting, and the counter of instructions.
    .syntax unified
    .arm
    .section .text.start, "ax"
    .global _start
_start:
    mrc p15, 0, r0, c1, c0, 2   // CPACR: floating point is not trapped
    orr r0, r0, #(0xf << 20)
    mcr p15, 0, r0, c1, c0, 2
    isb
    mov r0, #(1 << 30)          // FPEXC.EN
    vmsr fpexc, r0
    ldr sp, =stack_top
    ldr r0, =bss_begin
    ldr r1, =bss_end
    mov r2, #0
1:  cmp r0, r1
    strlo r2, [r0], #4
    blo 1b
    mov r0, #1                  // PMCR.E, and the cycle counter: with -icount shift=0 an instruction is a cycle
    mcr p15, 0, r0, c9, c12, 0
    mov r0, #(1 << 31)
    mcr p15, 0, r0, c9, c12, 1
    bl demo
    cmp r0, #0                  // SYS_EXIT, application exit or run-time error
    ldr r1, =0x20026
    ldrne r1, =0x20023
    mov r0, #0x18
    svc 0x123456
    b .

    .section .text.board_write, "ax"
    .type board_write, %function
    .global board_write
board_write:                    // SYS_WRITE0
    mov r1, r0
    mov r0, #0x04
    svc 0x123456
    bx lr

    .section .text.board_instructions, "ax"
    .type board_instructions, %function
    .global board_instructions
board_instructions:
    mrc p15, 0, r0, c9, c13, 0
    bx lr

    .section .rodata.board_tick, "a"
    .balign 4
    .global board_tick
board_tick: .word 1
