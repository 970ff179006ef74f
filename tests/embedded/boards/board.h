/* What a board gives to the demo. */
#ifndef GYRE_BOARD_H
#define GYRE_BOARD_H

#include <stddef.h>
#include <stdint.h>

int demo(void); /* 0: everything as expected; the program's exit status */

void board_write(const char *text);
uint32_t board_instructions(void); /* so far, to within board_tick; wraps; 0 on the host */
extern const uint32_t board_tick;

/** Calls `handler` as an interrupt, each time that about so many instructions have run; with 0 no more. Cortex-M alone; takes the counter
 *  of instructions. */
void board_interrupt_every(uint32_t instructions, void (*handler)(void));

/** Fills the free part of the stack, so that board_stack_used() can tell how many bytes below its argument, a variable on the
 *  stack, have been used since; 0 on the host. */
void board_paint_stack(void);
size_t board_stack_used(const void *below);
size_t board_library_bytes(void); /* code and constants of gyre_embedded in this program */

#endif
