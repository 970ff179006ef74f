/* Decodes tokens with a rotary cache on a board without an operating system, and compares with what double gives. */
#include "demo.h"

#include "../boards/board.h"
#include "report.h"

int demo(void) {
    board_paint_stack();
    int failures = try_rotary();
    failures += try_rotary_q15();
    failures += try_quantize();
    failures += try_decoding();
    failures += try_shapes();
    failures += try_places();
    failures += try_default_scale();
    failures += try_ring();
    failures += try_unseen();
    failures += try_merge();
    failures += try_arguments();
    if (board_library_bytes())
        report_number("code and constants of the library, bytes", (uint32_t)board_library_bytes());
    report_number("failures", (uint32_t)failures);
    return failures != 0;
}
