// The part of Arduino that the sketch needs, on a board.
#ifndef ARDUINO_H
#define ARDUINO_H

extern "C" {
#include "board.h"
}

struct Port {
    void begin(int) {}
    void println(const char *text) {
        board_write(text);
        board_write("\n");
    }
};

static Port Serial;

void setup();
void loop();

#endif
