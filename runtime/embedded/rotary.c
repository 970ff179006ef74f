#include "kernel_call.h"

static size_t angle_size(const gyre_embedded_rotary_kernel *k) {
    return k->x_dtype == GYRE_EMBEDDED_Q15 ? sizeof(int16_t) : sizeof(float);
}

finding gyre_embedded_check_rotary(const gyre_embedded_rotary_args *a) {
    if (!a) return found(in_args, is_missing);
    if (a->size != sizeof *a) return found(in_size, is_other_size);
    if (!a->kernel) return found(in_kernel, is_missing);
    const gyre_embedded_rotary_kernel *k = a->kernel;
    if (a->tokens < 0 || a->tokens > largest_extent) return found(in_tokens, is_bad_extent);
    if (a->heads < 0 || a->heads > largest_extent) return found(in_heads, is_bad_extent);
    if (a->head_dim < 1 || a->head_dim > largest_head_dim) return found(in_head_dim, is_bad_extent);
    if (a->rotary_dim < 0 || a->rotary_dim % 2 || a->rotary_dim > a->head_dim)
        return found(in_rotary_dim, is_bad_rotation);
    if (a->rotary_offset < 0 || a->rotary_offset > a->head_dim - a->rotary_dim)
        return found(in_rotary_offset, is_bad_rotation);
    if (!is_switch(a->reverse)) return found(in_reverse, is_out_of_range);
    if (a->tokens == 0 || a->heads == 0) return nothing_found();
    const size_t x_bytes = dense_bytes(a->tokens, a->heads, a->head_dim, k->x_dtype);
    const size_t out_bytes = dense_bytes(a->tokens, a->heads, a->head_dim, k->out_dtype);
    if (!x_bytes) return found(in_tokens, is_bad_extent);
    if (!is_aligned(a->x, element_size(k->x_dtype))) return found(in_x, is_misaligned);
    if (!is_aligned(a->out, element_size(k->out_dtype))) return found(in_out, is_misaligned);
    const int in_place = a->x == a->out && k->x_dtype == k->out_dtype;
    if (!in_place && overlap(a->x, x_bytes, a->out, out_bytes)) return found(in_x, is_overlapping);
    if (a->rotary_dim == 0) return nothing_found();
    const size_t angle = angle_size(k), angles = (size_t)a->tokens * (size_t)a->rotary_dim * angle;
    if (!is_aligned(a->angles, angle)) return found(in_angles, is_misaligned);
    if (overlap(a->angles, angles, a->out, out_bytes)) return found(in_angles, is_overlapping);
    return nothing_found();
}

gyre_embedded_status gyre_embedded_rotary(const gyre_embedded_rotary_args *a) {
    const gyre_embedded_status status = status_of(gyre_embedded_check_rotary(a));
    return status == GYRE_EMBEDDED_OK ? gyre_embedded_rotary_unchecked(a) : status;
}

gyre_embedded_status gyre_embedded_rotary_unchecked(const gyre_embedded_rotary_args *a) {
    if (a->tokens == 0 || a->heads == 0) return GYRE_EMBEDDED_OK;
    static const float no_angle = 0;
    int32_t offset = a->rotary_offset, pairs = a->rotary_dim / 2;
    int32_t copied_before = offset, after = offset + a->rotary_dim, copied_after = a->head_dim - after;
    if (a->x == a->out) copied_before = copied_after = 0;
    float direction = a->reverse ? -1.0f : 1.0f;

    /* (feature, head, token); a token's angles serve all its heads. */
    const int32_t dim = a->head_dim;
    halide_dimension_t heads[3] = {{0, dim, 1, 0}, {0, a->heads, dim, 0}, {0, a->tokens, a->heads * dim, 0}};
    halide_dimension_t angles[3] = {{0, pairs, 1, 0}, {0, a->heads, 0, 0}, {0, a->tokens, a->rotary_dim, 0}};
    const char *cosines = pairs ? a->angles : (const void *)&no_angle;
    const uint8_t code = a->kernel->x_dtype == GYRE_EMBEDDED_Q15 ? halide_type_int : halide_type_float;
    const size_t angle = angle_size(a->kernel);
    halide_buffer_t cos, sin, x, out;
    describe(&cos, cosines, code, (uint8_t)(8 * angle), 3, angles);
    describe(&sin, cosines + (size_t)pairs * angle, code, (uint8_t)(8 * angle), 3, angles);
    describe(&x, a->x, code, bits_of(a->kernel->x_dtype), 3, heads);
    describe(&out, a->out, code, bits_of(a->kernel->out_dtype), 3, heads);
    slab nothing, *context = &nothing;
    begin_slab(&nothing, NULL, 0);
#define GYRE_INPUT(name, type, rank, when) &name,
#define GYRE_OUTPUT(name, type, rank, when) &name,
    void *arguments[] = {
        &context,
#include "rotary/rotary_arguments.inc"
    };
    return a->kernel->call(arguments) ? GYRE_EMBEDDED_INTERNAL : GYRE_EMBEDDED_OK;
}
