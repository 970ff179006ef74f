// Start-up of qemu's board `virt` (RISC-V of 32 and of 64 bits), semihosting, and the counter of instructions.
    .section .text.start, "ax"
    .global _start
_start:
    li t0, 0x6000               // mstatus.FS: floating point is not trapped
    csrs mstatus, t0
    csrw fcsr, x0
    la sp, stack_top
    la t0, bss_begin
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sw x0, (t0)
    addi t0, t0, 4
    j 1b
2:  call demo
    // SYS_EXIT, {ADP_Stopped_ApplicationExit, status} in 64 bits; in 32 bits the reason alone
#if __riscv_xlen == 64
    addi sp, sp, -16
    li t0, 0x20026
    sd t0, (sp)
    sd a0, 8(sp)
    mv a1, sp
#else
    li a1, 0x20026
    beqz a0, 3f
    li a1, 0x20023              // a run-time error
3:
#endif
    li a0, 0x18
    call semihost
leave:
    j leave

    .section .text.semihost, "ax"
    .balign 16
    .option push
    .option norvc
semihost:                       // what a debugger takes for a call
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
    ret
    .option pop

    .section .text.board_write, "ax"
    .global board_write
board_write:                    // SYS_WRITE0
    mv a1, a0
    li a0, 0x04
    j semihost

    .section .text.board_instructions, "ax"
    .global board_instructions
board_instructions:
    csrr a0, minstret
    ret

    .section .rodata.board_tick, "a"
    .balign 4
    .global board_tick
board_tick: .word 1
