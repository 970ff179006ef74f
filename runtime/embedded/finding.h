/* What the checks of a call find: an argument, and a problem, which implies the status. Texts of both are in mistake.c, so that
 * only programs that ask for them hold them. */
#ifndef GYRE_EMBEDDED_FINDING_H
#define GYRE_EMBEDDED_FINDING_H

#include <gyre/embedded.h>

#define GYRE_EMBEDDED_ARGUMENTS(X)                                                                                     \
    X(args)                                                                                                            \
    X(size)                                                                                                            \
    X(kernel)                                                                                                          \
    X(row_kernel)                                                                                                      \
    X(tokens)                                                                                                          \
    X(keys)                                                                                                            \
    X(heads)                                                                                                           \
    X(num_heads)                                                                                                       \
    X(num_kv_heads)                                                                                                    \
    X(head_dim)                                                                                                        \
    X(rotary_dim)                                                                                                      \
    X(rotary_v_dim)                                                                                                    \
    X(rotary_offset)                                                                                                   \
    X(reverse)                                                                                                         \
    X(causal)                                                                                                          \
    X(pairing)                                                                                                         \
    X(value_pairing)                                                                                                   \
    X(window)                                                                                                          \
    X(scale)                                                                                                           \
    X(softcap)                                                                                                         \
    X(head_scales)                                                                                                     \
    X(x)                                                                                                               \
    X(q)                                                                                                               \
    X(k)                                                                                                               \
    X(v)                                                                                                               \
    X(k_scales)                                                                                                        \
    X(v_scales)                                                                                                        \
    X(out)                                                                                                             \
    X(lse)                                                                                                             \
    X(angles)                                                                                                          \
    X(q_angles)                                                                                                        \
    X(out_angles)                                                                                                      \
    X(workspace)                                                                                                       \
    X(workspace_size)

#define GYRE_EMBEDDED_PROBLEMS(X)                                                                                      \
    X(none, OK, "")                                                                                                    \
    X(missing, BAD_ARGUMENT, "is NULL")                                                                                \
    X(other_size, BAD_ARGUMENT, "is not the struct's: arguments begin with gyre_embedded_..._defaults()")              \
    X(other_kernel, BAD_ARGUMENT, "is not for one row of what `kernel` is for")                                        \
    X(misaligned, BAD_ARGUMENT, "is NULL, or not aligned to its elements")                                             \
    X(overlapping, BAD_ARGUMENT, "overlaps what is written")                                                           \
    X(out_of_range, BAD_ARGUMENT, "is out of range")                                                                   \
    X(not_read, BAD_ARGUMENT, "is for kernels of int8 caches alone")                                                   \
    X(not_capped, BAD_ARGUMENT, "is not a positive number, or the kernel's is 0")                                      \
    X(bad_extent, BAD_SHAPE, "is negative or too large")                                                               \
    X(other_extent, BAD_SHAPE, "is not what the kernel was made for")                                                  \
    X(not_divided, BAD_SHAPE, "does not divide num_heads")                                                             \
    X(bad_rotation, BAD_SHAPE, "is odd, negative, or goes beyond head_dim")                                            \
    X(too_small, WORKSPACE_TOO_SMALL, "is smaller than gyre_embedded_attention_workspace_size() says")

#define GYRE_EMBEDDED_ENUMERATE(name) in_##name,
enum { GYRE_EMBEDDED_ARGUMENTS(GYRE_EMBEDDED_ENUMERATE) argument_count };
#undef GYRE_EMBEDDED_ENUMERATE

#define GYRE_EMBEDDED_ENUMERATE(name, status, text) is_##name,
enum { GYRE_EMBEDDED_PROBLEMS(GYRE_EMBEDDED_ENUMERATE) problem_count };
#undef GYRE_EMBEDDED_ENUMERATE

/** An argument and its problem. The argument means nothing if nothing is wrong. */
typedef struct finding {
    uint8_t argument;
    uint8_t problem;
} finding;

static inline finding found(int argument, int problem) {
    const finding f = {(uint8_t)argument, (uint8_t)problem};
    return f;
}

static inline finding nothing_found(void) { return found(0, is_none); }

static inline gyre_embedded_status status_of(finding f) {
#define GYRE_EMBEDDED_STATUS(name, status, text) GYRE_EMBEDDED_##status,
    static const uint8_t statuses[] = {GYRE_EMBEDDED_PROBLEMS(GYRE_EMBEDDED_STATUS)};
#undef GYRE_EMBEDDED_STATUS
    return statuses[f.problem];
}

finding gyre_embedded_check_rotary(const gyre_embedded_rotary_args *args);
finding gyre_embedded_check_attention(const gyre_embedded_attention_args *args);

#endif
