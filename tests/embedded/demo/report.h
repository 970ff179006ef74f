/* What the demo prints, through the board. */
#ifndef GYRE_REPORT_H
#define GYRE_REPORT_H

#include <stdint.h>

/** One line: what was compared, its largest error and "ok", or "FAILED" if that is above the bound or no number.
 *  Returns the number of failures: 0 or 1. */
int report_error(const char *what, float error, float bound);

/** Reports a condition likewise. */
int report(const char *what, int holds);

void report_number(const char *what, uint32_t number);

#endif
