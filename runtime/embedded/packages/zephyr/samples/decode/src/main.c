/* Decodes tokens with a rotary cache, twice at other positions. */
#include <zephyr/sys/printk.h>

#include "decode.h"

int main(void) {
    printk(decode_twice() ? "decoding depends on positions\n" : "decoded 12 tokens, twice alike\n");
    return 0;
}
