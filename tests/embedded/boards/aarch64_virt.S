// Start-up of qemu's board `virt` (64-bit ARM), semihosting, and the counter of instructions.
    .section .text.start, "ax"
    .global _start
_start:
    mov x0, #(3 << 20)          // CPACR_EL1.FPEN: floating point is not trapped
    msr cpacr_el1, x0
    isb
    ldr x0, =stack_top
    mov sp, x0
    ldr x0, =bss_begin
    ldr x1, =bss_end
1:  cmp x0, x1
    b.hs 2f
    str xzr, [x0], #8
    b 1b
2:  mov x0, #1                  // PMCR_EL0.E, and the cycle counter: with -icount shift=0 an instruction is a cycle
    msr pmcr_el0, x0
    mov x0, #(1 << 31)
    msr pmcntenset_el0, x0
    bl demo
    sub sp, sp, #16             // SYS_EXIT, {ADP_Stopped_ApplicationExit, status}
    mov x2, #0x26
    movk x2, #2, lsl #16
    stp x2, x0, [sp]
    mov x1, sp
    mov w0, #0x18
    hlt #0xf000
    b .

    .section .text.board_write, "ax"
    .global board_write
board_write:                    // SYS_WRITE0
    mov x1, x0
    mov w0, #0x04
    hlt #0xf000
    ret

    .section .text.board_instructions, "ax"
    .global board_instructions
board_instructions:
    mrs x0, pmccntr_el0
    ret

    .section .rodata.board_tick, "a"
    .balign 4
    .global board_tick
board_tick: .word 1
