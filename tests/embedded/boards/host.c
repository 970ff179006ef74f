/* The machine that builds, instead of a board. */
#include "board.h"

#include <stdio.h>

const uint32_t board_tick = 0;

void board_write(const char *text) { fputs(text, stdout); }
uint32_t board_instructions(void) { return 0; }
void board_paint_stack(void) {}
size_t board_stack_used(const void *below) {
    (void)below;
    return 0;
}
size_t board_library_bytes(void) { return 0; }

int main(void) { return demo(); }
