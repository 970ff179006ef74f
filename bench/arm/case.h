/* One thing that one_call can run. */
#ifndef GYRE_CASE_H
#define GYRE_CASE_H

#include <gyre/gyre.h>

typedef struct Case {
    const char *name;
    gyre_dtype dtype;
    int option; /* what it chooses is up to the operation */
    int head_dim;
} Case;

/* A dense tensor of rank 4 in memory of its own, with numbers of magnitude 1/4 to 1 and either sign. */
gyre_tensor random_tensor(gyre_dtype dtype, const int64_t *shape);

/* Loops in C on the same tensors as the cases "rotary" and "attention". option 1: compiled with -ffast-math. */
void plain_rotary(const Case *c);
void plain_attention(const Case *c);

#endif
