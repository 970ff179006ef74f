/* For compilers without a C library: what HalideRuntime.h asks for. */
#ifndef GYRE_FREESTANDING_STRING_H
#define GYRE_FREESTANDING_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

#endif
