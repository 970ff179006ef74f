#include "case.h"

#include <stdlib.h>

gyre_tensor random_tensor(gyre_dtype dtype, const int64_t *shape) {
    static uint32_t state = 1;
    const size_t count = (size_t)(shape[0] * shape[1] * shape[2] * shape[3]);
    void *data = malloc(count * sizeof(float));
    if (!data) exit(3);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        const uint32_t sign = state >> 31, random = state >> 8;
        if (dtype == GYRE_F32)
            ((uint32_t *)data)[i] = sign << 31 | (0x3e800000u + (random & 0xffffffu));
        else if (dtype == GYRE_F16)
            ((uint16_t *)data)[i] = (uint16_t)(sign << 15 | (0x3400u + (random & 0x7ffu)));
        else
            ((uint16_t *)data)[i] = (uint16_t)(sign << 15 | (0x3e80u + (random & 0xffu)));
    }
    return gyre_tensor_dense(data, dtype, 4, shape);
}
