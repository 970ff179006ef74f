/* Rotary and reverse-rotary attention: what Arduino's IDE includes by the library's name. */
#ifndef GYRE_EMBEDDED_FOR_ARDUINO_H
#define GYRE_EMBEDDED_FOR_ARDUINO_H

#include "gyre/embedded_kernels.h"

#endif
