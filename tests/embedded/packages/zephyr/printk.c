/* Zephyr's printk() and its call of main(), on a board. */
#include <zephyr/sys/printk.h>

#include "board.h"

int main(void);

void printk(const char *text) { board_write(text); }

int demo(void) { return main(); }
