/** @file
 *  What is linked: targets, kernels, and which calls these take. */
#ifndef GYRE_LINKED_H
#define GYRE_LINKED_H

#include "tensor.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A target: kernels for a kind of processor. Strings last as long as the calling thread. */
typedef struct gyre_target_info {
    const char *name;     /**< "x86_64_avx512" */
    int32_t linked;       /**< kernels of this target are in this library */
    int32_t runnable;     /**< this machine has every feature it needs */
    const char *features; /**< what it needs, separated by blanks; "" for a baseline */
    const char *missing;  /**< the first that this machine lacks; "" if runnable */
    const char *rest;     /**< the target whose kernels serve where it has none of its own; "": there is none */
    gyre_device device;   /**< where the tensors of its calls are */
} gyre_target_info;

/** A linked kernel. Strings last as long as the library that the kernel is of. */
typedef struct gyre_kernel_info {
    const char *name;       /**< "attention_plain_f32_d64__x86_64_avx512" */
    const char *operation;  /**< "attention" */
    const char *variant;    /**< "plain_f32_d64" */
    const char *target;     /**< "x86_64_avx512" */
    const char *attributes; /**< "dtype=bfloat16 general=false head_dim=64 … operands=bf16": parameters, then facts */
    const char *evidence;   /**< where its knobs come from: "default", or a measurement in one line */
    const char *library;    /**< whose it is: "gyre", or a name given to gyre_add_kernels() */
    int32_t runnable;       /**< this machine has every feature that its target needs */
} gyre_kernel_info;

/** The number of targets of this architecture. */
GYRE_API int32_t gyre_target_count(void);

/** Describes a target, best first. Returns 1, or 0 past the end, where nothing is written. */
GYRE_API int32_t gyre_target_at(int32_t index, gyre_target_info *info);

/** The number of linked kernels. */
GYRE_API int32_t gyre_kernel_count(void);

/** Describes a kernel, in the order in which they are tried. Returns 1, or 0 past the end, where nothing is written. */
GYRE_API int32_t gyre_kernel_at(int32_t index, gyre_kernel_info *info);

/** Which kernels of an operation take a call: the first rule that does, and whose kernels are linked for the call's type
 *  and sizes. Among these the best target's serve, and those made for the head sizes rather than padded ones. */
typedef struct gyre_dispatch_rule {
    const char *operation; /**< "attention" */
    const char *kernels;   /**< "split": how their variants begin */
    const char *calls;     /**< which calls they take, in words */
} gyre_dispatch_rule;

/** The number of rules. */
GYRE_API int32_t gyre_dispatch_rule_count(void);

/** Describes a rule, in the order in which they are tried. Returns 1, or 0 past the end, where nothing is written. */
GYRE_API int32_t gyre_dispatch_rule_at(int32_t index, gyre_dispatch_rule *rule);

/** The features that this machine and its system offer, of those that targets ask for, separated by blanks. */
GYRE_API const char *gyre_cpu_features(void);

GYRE_LAYOUT(gyre_target_info, device, 48, 40, 28, 24);
GYRE_LAYOUT(gyre_kernel_info, runnable, 64, 56, 32, 28);
GYRE_LAYOUT(gyre_dispatch_rule, calls, 24, 16, 12, 8);

#ifdef __cplusplus
}
#endif
#endif
