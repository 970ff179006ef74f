/**
 * What a library of kernels made at build time (gyre_add_kernels() in CMake) tells the runtime. Such a library registers
 * itself when it is loaded; only code that makes libraries by other means needs this header.
 */
#ifndef GYRE_KERNELS_H
#define GYRE_KERNELS_H

#include "gyre.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Counts how the runtime calls kernels: their arguments, their facts and their memory. A library made for another count
 *  is refused. */
#define GYRE_KERNEL_INTERFACE 4

/** One ahead-of-time kernel. Strings belong to the library. */
typedef struct gyre_kernel {
    const char *name;       /* "attention_plain_f32_d64__x86_64_avx512" */
    const char *operation;  /* "attention" */
    const char *variant;    /* "plain_f32_d64" */
    const char *target;     /* "x86_64_avx512" */
    const char *attributes; /* "general=false head_dim=64 … workspace=407552": what it computes, and its facts */
    const char *evidence;   /* where its knobs come from, in one line */
    int (*call)(void **);   /* Halide's _argv entry: 0, or Halide's error code */
    const void *image;      /* a device's machine code, as its driver loads it; NULL: runs on the CPU */
} gyre_kernel;

typedef struct gyre_kernel_library {
    uint32_t size;             /* of this structure */
    uint32_t kernel_interface; /* GYRE_KERNEL_INTERFACE */
    const char *name;          /* "my_kernels"; no two registered libraries share one */
    const gyre_kernel *kernels;
    size_t count;
} gyre_kernel_library;

/** Adds a library, which must stay in memory until it is taken away. Calls see it from now on; of two kernels for the same
 *  call and target, the one of the library that was registered last is taken. Nothing is added where this fails. Thread-safe.
 *  Errors: BAD_ARGUMENT (null, size, a name that is registered), UNSUPPORTED (another kernel interface), OUT_OF_MEMORY. */
GYRE_API gyre_status gyre_register_kernels(const gyre_kernel_library *library);

/** Takes a registered library away, before it leaves memory. Calls that run other libraries' kernels may go on meanwhile; none
 *  may be running one of its own. Contexts that are bound to it by gyre_context_options.library find no kernels from now on.
 *  BAD_ARGUMENT: it is not registered. */
GYRE_API gyre_status gyre_unregister_kernels(const gyre_kernel_library *library);

/** The memory of running kernels, called by them alone: `slab` is what the runtime handed to the kernel. */
GYRE_API void *gyre_kernel_malloc(void *slab, size_t bytes);
GYRE_API void gyre_kernel_free(void *slab, void *pointer);

/** A launch on a device, called by running kernels alone: of the function `entry` in the kernel's image, with the addresses of
 *  its arguments. `call` is what the runtime handed to the kernel, and keeps the status; always 0. A grid without blocks is
 *  none. */
GYRE_API int gyre_kernel_launch(void *call, const char *entry, int grid_x, int grid_y, int grid_z, int block_x,
                                int block_y, int block_z, int shared_bytes, void **arguments);

GYRE_LAYOUT(gyre_kernel, image, 64, 56, 32, 28);
GYRE_LAYOUT(gyre_kernel_library, count, 32, 24, 20, 16);

#ifdef __cplusplus
}
#endif
#endif
