/* How a kernel is called: Halide's descriptions of buffers, innermost dimension first. */
#ifndef GYRE_EMBEDDED_KERNEL_CALL_H
#define GYRE_EMBEDDED_KERNEL_CALL_H

#include <HalideRuntime.h>

#include "check.h"

/** `dims`: {0, extent, stride, 0} of each dimension, in elements; buffers that look alike share them. Field by field: small
 *  compilers clear and copy whole structs by calls. */
static inline void describe(halide_buffer_t *buffer, const void *data, uint8_t type_code, uint8_t bits,
                            int32_t dimensions, halide_dimension_t *dims) {
    buffer->device = 0;
    buffer->device_interface = NULL;
    buffer->host = (uint8_t *)(uintptr_t)data;
    buffer->flags = 0;
    buffer->type.code = type_code;
    buffer->type.bits = bits;
    buffer->type.lanes = 1;
    buffer->dimensions = dimensions;
    buffer->dim = dims;
    buffer->padding = NULL;
}

static inline uint8_t bits_of(gyre_embedded_dtype dtype) { return (uint8_t)(8 * element_size(dtype)); }

typedef struct slab_block {
    struct slab_block *below;
    size_t end; /* offset of the first byte after the block */
    int free;
} slab_block;

/** The memory of a running kernel, which is its user context. Kernels without an operating system are given `base` and allocate nothing
 *  (generators/passes/memory/given_memory.h); those of the host, on which the library is tested, allocate blocks, which need not be freed in order. */
typedef struct slab {
    char *base;
    size_t size;
    slab_block *top, bottom; /* below all blocks: empty, and never free */
} slab;

static inline void begin_slab(slab *s, char *base, size_t size) {
    s->base = base;
    s->size = size;
    s->top = &s->bottom;
    s->bottom.below = NULL;
    s->bottom.end = 0;
    s->bottom.free = 0;
}

void *gyre_embedded_malloc(void *slab, size_t bytes);
void gyre_embedded_free(void *slab, void *block);

#endif
