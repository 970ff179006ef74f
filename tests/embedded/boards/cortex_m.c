/* Start-up of qemu's boards with Cortex-M, semihosting, and the counter of instructions. */
#include "board.h"

extern unsigned char bss_begin[], bss_end[], stack_top[];

static volatile uint32_t *const coprocessor_access = (volatile uint32_t *)0xE000ED88u;
static volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010u; /* control, reload, current */

const uint32_t board_tick = 1000 / BOARD_MHZ; /* with -icount shift=0 an instruction is a nanosecond */

static int semihost(int operation, const void *argument) {
    register int r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void board_write(const char *text) { semihost(0x04, text); }

static void leave(int status) {
    semihost(0x18, (const void *)(uintptr_t)(status ? 0x20023 : 0x20026)); /* run-time error, application exit */
    for (;;) {
    }
}

uint32_t board_instructions(void) { return (0xffffffu - systick[2]) * (uint64_t)1000 / BOARD_MHZ; }

static void (*on_tick)(void);

void board_interrupt_every(uint32_t instructions, void (*handler)(void)) {
    systick[0] = 0;
    on_tick = handler;
    systick[1] = (uint32_t)((uint64_t)instructions * BOARD_MHZ / 1000);
    systick[2] = 0;
    if (instructions > 0) systick[0] = 7; /* runs, by the processor's clock, and interrupts */
}

static void tick(void) { on_tick(); }

void reset(void) {
    *coprocessor_access |= 0xfu << 20; /* floating point, and MVE */
    __asm volatile("dsb\n\tisb");
    for (volatile unsigned char *p = bss_begin; p < bss_end; p++) *p = 0;
    systick[1] = 0xffffffu;
    systick[2] = 0;
    systick[0] = 5; /* runs, by the processor's clock */
    leave(demo());
}

static void fault(void) {
    board_write("fault\n");
    leave(1);
}

typedef void (*handler)(void);
__attribute__((section(".vectors"), used)) static const handler vectors[16] = {
    (handler)(uintptr_t)stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, tick};
