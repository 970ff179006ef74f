/* Wrong arguments, one at a time: the status that is expected, and not a byte written. */
#ifndef GYRE_ARGUMENTS_H
#define GYRE_ARGUMENTS_H

#include <gyre/embedded_kernels.h>

enum {
    DIM = 64,
    TOKENS = 2,
    HEADS = 2,
    SIZE = TOKENS * HEADS * DIM,
    LEAST_WORKSPACE = GYRE_ATTENTION_F32_D64_WORKSPACE,
    WORKSPACE =
        GYRE_ATTENTION_F32_I8_D64_WORKSPACE > LEAST_WORKSPACE ? GYRE_ATTENTION_F32_I8_D64_WORKSPACE : LEAST_WORKSPACE
};

extern float readable[SIZE + 1], angle_table[TOKENS][2][DIM / 2];
extern union writable {
    unsigned char bytes[SIZE * 4 + TOKENS * HEADS * 4 + WORKSPACE];
    struct {
        float out[SIZE], lse[TOKENS * HEADS];
        unsigned char workspace[WORKSPACE];
    } as;
} writable; /* all that a call may write */

/** 1 if the status is another one, or something was written. */
int refused(gyre_embedded_status status, gyre_embedded_status expected);

/** 1 if the mistake is not of the argument of this name; `name` NULL: if there is one. */
int misnamed(gyre_embedded_mistake mistake, const char *name);

#define GYRE_TRY(operation, change, name, expected)                                                                    \
    do {                                                                                                               \
        gyre_embedded_##operation##_args a = good;                                                                     \
        a.change;                                                                                                      \
        wrong += refused(gyre_embedded_##operation(&a), GYRE_EMBEDDED_##expected);                                     \
        wrong += misnamed(gyre_embedded_##operation##_mistake(&a), name);                                              \
    } while (0)

/** Counts in `wrong` if gyre_embedded_<operation>() does not refuse, so, a copy of the arguments `good` with one change, or names
 *  another argument. */
#define REFUSE(operation, change, name, expected) GYRE_TRY(operation, change, #name, expected)

/** Counts in `wrong` if it refuses such a copy, or writes although there is nothing to do. */
#define ACCEPT(operation, change) GYRE_TRY(operation, change, NULL, OK)

/* Each returns how many were not refused. */
int wrong_attention(void);
int wrong_rotary(void);

#endif
