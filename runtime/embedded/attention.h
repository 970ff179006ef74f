/* Attention, between its files. */
#ifndef GYRE_EMBEDDED_ATTENTION_H
#define GYRE_EMBEDDED_ATTENTION_H

#include "check.h"

enum { line = 64 }; /* kernels' blocks begin at multiples of it */

/** Bytes of workspace that a call needs. */
static inline size_t workspace_of(const gyre_embedded_attention_args *a) {
    const size_t bytes = gyre_embedded_attention_workspace_size(a->kernel);
    const size_t of_row = gyre_embedded_attention_workspace_size(a->row_kernel); /* 0: there is none */
    return bytes > of_row ? bytes : of_row;
}

#endif
