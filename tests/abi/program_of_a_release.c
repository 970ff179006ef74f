/* A program as one that was built against the headers of a release: it includes none of today's, and knows of structures only what
 * release_0_1.inc recorded then. What lies behind a structure of its size is garbage. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
#define GYRE_STRUCT(name, size) size_of_##name = size,
#define GYRE_FIELD(name, field, offset, size) name##__##field = offset, size_of_##name##__##field = size,
#define GYRE_VALUE(name, value) name = value,
#define GYRE_FUNCTION(name)
#include "release_0_1.inc"
#undef GYRE_STRUCT
#undef GYRE_FIELD
#undef GYRE_VALUE
#undef GYRE_FUNCTION
};

int32_t gyre_rotary(void *context, const void *args);
int32_t gyre_rotary_qk(void *context, const void *args);
int32_t gyre_attention(void *context, const void *args);
int32_t gyre_attention_backward(void *context, const void *args);
int32_t gyre_attention_merge(void *context, const void *args);
int32_t gyre_cache_append(void *context, const void *args);
int32_t gyre_linear_attention(void *context, const void *args);
const char *gyre_last_error(void);

static int failures;

static void expect(int ok, const char *what) {
    if (ok) return;
    printf("%s: %s\n", what, gyre_last_error());
    failures++;
}

/* A structure, and as much garbage behind it. */
typedef union memory {
    unsigned char bytes[2048];
    void *aligned;
} memory;

#define START(m, name) start(m, size_of_##name)
#define SET(m, name, field, value) set((m)->bytes + name##__##field, &(value), sizeof(value), size_of_##name##__##field)

static void start(memory *m, uint32_t size) {
    memset(m, 0xa5, sizeof *m);
    memset(m, 0, size);
    memcpy(m, &size, sizeof size);
}
static void set(unsigned char *to, const void *value, size_t bytes, size_t recorded) {
    if (bytes != recorded) {
        printf("a field has %d bytes, not %d\n", (int)recorded, (int)bytes);
        exit(1);
    }
    memcpy(to, value, bytes);
}

/* A dense tensor in f32, whose structure has no size: it is part of others. */
typedef struct tensor {
    unsigned char bytes[size_of_gyre_tensor];
} tensor;

static tensor dense(void *data, int32_t dtype, int32_t rank, const int64_t *shape) {
    tensor t;
    const int32_t device = GYRE_CPU;
    int64_t stride = 1;
    int32_t d;
    memset(&t, 0, sizeof t);
    set(t.bytes + gyre_tensor__data, &data, sizeof data, size_of_gyre_tensor__data);
    set(t.bytes + gyre_tensor__dtype, &dtype, sizeof dtype, size_of_gyre_tensor__dtype);
    set(t.bytes + gyre_tensor__device, &device, sizeof device, size_of_gyre_tensor__device);
    set(t.bytes + gyre_tensor__rank, &rank, sizeof rank, size_of_gyre_tensor__rank);
    for (d = rank; d-- > 0; stride *= shape[d]) {
        memcpy(t.bytes + gyre_tensor__shape + 8 * d, &shape[d], 8);
        memcpy(t.bytes + gyre_tensor__strides + 8 * d, &stride, 8);
    }
    return t;
}

enum { tokens = 3, heads = 2, dim = 64, count = tokens * heads * dim };
static float x[count], k[count], v[count], out[count], grad[count], lse[heads * tokens], gradients[3][count];
static const int64_t shape[4] = {1, tokens, heads, dim}, lse_shape[3] = {1, heads, tokens};
static const int64_t unbounded = -1;

static void fill(void) {
    int i;
    for (i = 0; i < count; i++) {
        x[i] = (float)(i % 7) / 8;
        k[i] = (float)(i % 5) / 8;
        v[i] = (float)(i % 11) - 5;
        grad[i] = 1;
        out[i] = -1;
    }
}

static void rope_of(memory *m) {
    const double theta = 10000, factor = 1;
    START(m, gyre_rope);
    SET(m, gyre_rope, theta, theta);
    SET(m, gyre_rope, attention_factor, factor);
}

static void attention_of(memory *m, const tensor *of_lse, int32_t causal) {
    const tensor q = dense(x, GYRE_F32, 4, shape), keys = dense(k, GYRE_F32, 4, shape);
    const tensor values = dense(v, GYRE_F32, 4, shape), result = dense(out, GYRE_F32, 4, shape);
    START(m, gyre_attention_args);
    SET(m, gyre_attention_args, q, q);
    SET(m, gyre_attention_args, k, keys);
    SET(m, gyre_attention_args, v, values);
    SET(m, gyre_attention_args, out, result);
    SET(m, gyre_attention_args, lse, of_lse);
    SET(m, gyre_attention_args, causal, causal);
    SET(m, gyre_attention_args, window_left, unbounded);
    SET(m, gyre_attention_args, window_right, unbounded);
}

static int first_row_is_value(void) {
    int i, same = 1;
    for (i = 0; i < heads * dim; i++) same = same && fabsf(out[i] - v[i]) < 1e-5f;
    return same;
}

/* Causal: the first query sees the first key alone, whose gradient of its value it gives. Old calls knew less of the structure. */
static void attend(void) {
    memory m, backward;
    const tensor of_lse = dense(lse, GYRE_F32, 3, lse_shape), out_grad = dense(grad, GYRE_F32, 4, shape);
    const tensor q_grad = dense(gradients[0], GYRE_F32, 4, shape), k_grad = dense(gradients[1], GYRE_F32, 4, shape);
    const tensor v_grad = dense(gradients[2], GYRE_F32, 4, shape);
    const uint32_t sizes[] = {size_of_gyre_attention_args, gyre_attention_args__dropout_offset,
                              gyre_attention_args__value_order, gyre_attention_args__score};
    const void *const forward = &m;
    float sum = 0;
    int i;
    for (i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
        fill();
        attention_of(&m, &of_lse, 1);
        memset(m.bytes + sizes[i], 0xa5, sizeof m - sizes[i]);
        memcpy(&m, &sizes[i], 4);
        expect(gyre_attention(NULL, &m) == 0, "gyre_attention()");
        expect(first_row_is_value(), "gyre_attention() gave something else");
    }
    START(&backward, gyre_attention_backward_args);
    SET(&backward, gyre_attention_backward_args, forward, forward);
    SET(&backward, gyre_attention_backward_args, out_grad, out_grad);
    SET(&backward, gyre_attention_backward_args, q_grad, q_grad);
    SET(&backward, gyre_attention_backward_args, k_grad, k_grad);
    SET(&backward, gyre_attention_backward_args, v_grad, v_grad);
    expect(gyre_attention_backward(NULL, &backward) == 0, "gyre_attention_backward()");
    for (i = 0; i < count; i++) sum += gradients[2][i];
    expect(fabsf(sum - count) < 1e-2f, "gyre_attention_backward() gave something else");
}

static void rotate(void) {
    memory m, rope;
    const tensor from = dense(x, GYRE_F32, 4, shape), to = dense(out, GYRE_F32, 4, shape);
    float length = 0, rotated = 0;
    int i;
    fill();
    rope_of(&rope);
    START(&m, gyre_rotary_args);
    SET(&m, gyre_rotary_args, x, from);
    SET(&m, gyre_rotary_args, out, to);
    memcpy(m.bytes + gyre_rotary_args__rope, &rope, size_of_gyre_rope);
    expect(size_of_gyre_rotary_args__rope == size_of_gyre_rope, "gyre_rope");
    expect(gyre_rotary(NULL, &m) == 0, "gyre_rotary()");
    expect(memcmp(x, out, heads * dim * sizeof *x) == 0, "position 0 was rotated");
    for (i = heads * dim; i < 2 * heads * dim; i++) {
        length += x[i] * x[i];
        rotated += out[i] * out[i];
    }
    expect(fabsf(length - rotated) < 1e-3f && memcmp(x, out, sizeof x) != 0, "position 1 was not rotated");
}

static void append(void) {
    memory m;
    const tensor keys = dense(k, GYRE_F32, 4, shape), values = dense(v, GYRE_F32, 4, shape);
    const tensor k_cache = dense(out, GYRE_F32, 4, shape), v_cache = dense(grad, GYRE_F32, 4, shape);
    const uint32_t oldest = gyre_cache_append_args__value_order;
    fill();
    START(&m, gyre_cache_append_args);
    SET(&m, gyre_cache_append_args, k, keys);
    SET(&m, gyre_cache_append_args, v, values);
    SET(&m, gyre_cache_append_args, k_cache, k_cache);
    SET(&m, gyre_cache_append_args, v_cache, v_cache);
    memset(m.bytes + oldest, 0xa5, sizeof m - oldest);
    memcpy(&m, &oldest, 4);
    expect(gyre_cache_append(NULL, &m) == 0, "gyre_cache_append()");
    expect(memcmp(out, k, sizeof k) == 0 && memcmp(grad, v, sizeof v) == 0, "gyre_cache_append() wrote something else");
}

static void merge(void) {
    memory m;
    const int32_t parts = 1;
    const tensor part = dense(v, GYRE_F32, 4, shape), part_lse = dense(lse, GYRE_F32, 3, lse_shape);
    const tensor result = dense(out, GYRE_F32, 4, shape);
    fill();
    START(&m, gyre_attention_merge_args);
    SET(&m, gyre_attention_merge_args, parts, parts);
    SET(&m, gyre_attention_merge_args, part_out, part);
    SET(&m, gyre_attention_merge_args, part_lse, part_lse);
    SET(&m, gyre_attention_merge_args, out, result);
    expect(gyre_attention_merge(NULL, &m) == 0, "gyre_attention_merge()");
    expect(memcmp(out, v, sizeof v) == 0, "gyre_attention_merge() gave something else");
}

static void attend_linearly(void) {
    memory m;
    const int32_t causal = 1;
    const tensor q = dense(x, GYRE_F32, 4, shape), keys = dense(k, GYRE_F32, 4, shape);
    const tensor values = dense(v, GYRE_F32, 4, shape), result = dense(out, GYRE_F32, 4, shape);
    fill();
    START(&m, gyre_linear_attention_args);
    SET(&m, gyre_linear_attention_args, q, q);
    SET(&m, gyre_linear_attention_args, k, keys);
    SET(&m, gyre_linear_attention_args, v, values);
    SET(&m, gyre_linear_attention_args, out, result);
    SET(&m, gyre_linear_attention_args, causal, causal);
    expect(gyre_linear_attention(NULL, &m) == 0, "gyre_linear_attention()");
    expect(first_row_is_value(), "gyre_linear_attention() gave something else");
}

/* What a release reserves means nothing yet: anything but 0 is refused, so that a later version can give it a meaning. */
static void expect_reserved(void) {
    memory m;
    START(&m, gyre_rotary_args);
    m.bytes[gyre_rotary_args__reserved] = 1;
    expect(gyre_rotary(NULL, &m) == GYRE_BAD_ARGUMENT && strstr(gyre_last_error(), "reserved"), "gyre_rotary()");
    START(&m, gyre_rotary_qk_args);
    m.bytes[gyre_rotary_qk_args__reserved] = 1;
    expect(gyre_rotary_qk(NULL, &m) == GYRE_BAD_ARGUMENT && strstr(gyre_last_error(), "reserved"), "gyre_rotary_qk()");
    START(&m, gyre_attention_args);
    m.bytes[gyre_attention_args__reserved] = 1;
    expect(gyre_attention(NULL, &m) == GYRE_BAD_ARGUMENT && strstr(gyre_last_error(), "reserved"), "gyre_attention()");
}

int main(void) {
    memory m;
    const tensor none = {{0}};
    attend();
    rotate();
    append();
    merge();
    attend_linearly();
    attention_of(&m, &none, 0);
    m.bytes[0] = 7; /* a size that no release had */
    m.bytes[1] = 0;
    expect(gyre_attention(NULL, &m) == GYRE_BAD_ARGUMENT, "a size that no release had was taken");
    expect_reserved();
    printf("%d failure(s)\n", failures);
    return failures != 0;
}
