/* Decodes tokens with a rotary cache, twice at other positions. */
#include <gyre_embedded.h>

#include "decode.h"

void setup() {
    Serial.begin(115200);
    Serial.println(decode_twice() ? "decoding depends on positions" : "decoded 12 tokens, twice alike");
}

void loop() {}
