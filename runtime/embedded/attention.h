/* Attention, between its files. */
#ifndef GYRE_EMBEDDED_ATTENTION_H
#define GYRE_EMBEDDED_ATTENTION_H

#include "check.h"

enum { line = 64 }; /* kernels' blocks begin at multiples of it */
#endif
