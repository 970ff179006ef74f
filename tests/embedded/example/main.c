/* The packages' sample, on a board. */
#include "board.h"
#include "decode.h"

int demo(void) {
    const int bad = decode_twice();
    board_write(bad ? "decoding depends on positions\n" : "decoded 12 tokens, twice alike\n");
    return bad;
}
