#include "kernel_call.h"

/* Field by field: small compilers clear and copy whole structs by calls. */
void gyre_embedded_describe(halide_buffer_t *buffer, const void *data, buffer_kind kind, halide_dimension_t *dims) {
    buffer->device = 0;
    buffer->device_interface = NULL;
    buffer->host = (uint8_t *)(uintptr_t)data;
    buffer->flags = 0;
    buffer->type.code = kind.code;
    buffer->type.bits = kind.bits;
    buffer->type.lanes = 1;
    buffer->dimensions = kind.dimensions;
    buffer->dim = dims;
    buffer->padding = NULL;
}
