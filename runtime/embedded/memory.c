/* The memory of kernels that allocate, which are those of the host, from the caller's workspace. A kernel's workspace is measured when it is generated
 * (generators/common/facts.h) for blocks that begin and end like these. */
#include "kernel_call.h"

enum { line = 64 }; /* of a cache; heads each block */

void *gyre_embedded_malloc(void *context, size_t bytes) {
    slab *s = context;
    const size_t begin = s->top->end, end = begin + line + (bytes + line - 1) / line * line;
    if (end > s->size) return NULL;
    slab_block *block = (slab_block *)(void *)(s->base + begin);
    block->below = s->top;
    block->end = end;
    block->free = 0;
    s->top = block;
    return s->base + begin + line;
}

void gyre_embedded_free(void *context, void *pointer) {
    slab *s = context;
    if (!pointer) return;
    ((slab_block *)(void *)((char *)pointer - line))->free = 1;
    while (s->top->free) s->top = s->top->below;
}
