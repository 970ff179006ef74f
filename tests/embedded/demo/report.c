#include "report.h"

#include "../boards/board.h"

static void write_number(uint32_t number) {
    char text[11], *p = text + sizeof text - 1;
    *p = 0;
    do *--p = (char)('0' + number % 10);
    while (number /= 10);
    board_write(p);
}

/** Two digits and a power of ten. */
static void write_error(float error) {
    uint32_t exponent = 0;
    if (!(error < 1e9f)) {
        board_write("no number");
        return;
    }
    while (error != 0 && error < 9.95f && exponent < 40) {
        error *= 10;
        exponent++;
    }
    write_number((uint32_t)(error + 0.5f));
    board_write("e-");
    write_number(exponent);
}

int report(const char *what, int holds) {
    board_write(what);
    board_write(holds ? ": ok\n" : ": FAILED\n");
    return !holds;
}

int report_error(const char *what, float error, float bound) {
    board_write(what);
    board_write(": error ");
    write_error(error);
    return report("", error <= bound);
}

void report_number(const char *what, uint32_t number) {
    board_write(what);
    board_write(": ");
    write_number(number);
    board_write("\n");
}
