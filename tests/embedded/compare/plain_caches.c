#include "parts.h"
#include "peers.h"

#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define FACTOR(scales, row) ((void)(scales), 1.0f)

#define FUNCTION plain_of_f16
#define ELEMENT __fp16
#include "attend.inc"
#undef FUNCTION
#undef ELEMENT

#undef FACTOR
#define FACTOR(scales, row) ((scales)[row])
#define FUNCTION plain_of_i8
#define ELEMENT int8_t
#include "attend.inc"
