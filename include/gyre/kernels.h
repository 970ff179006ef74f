/** @file
 * What a library of kernels made at build time (gyre_add_kernels() in CMake) tells the runtime. Such a library registers
 * itself when it is loaded; only code that makes libraries by other means needs this header.
 */
#ifndef GYRE_KERNELS_H
#define GYRE_KERNELS_H

#include "gyre.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Counts the structures below, the facts that the runtime reads and the functions that kernels call. A library made for another
 *  count is refused. Arguments are not counted: what each kernel takes is compared with what the runtime hands over. */
#define GYRE_KERNEL_INTERFACE 5

struct halide_filter_metadata_t; /* HalideRuntime.h */

/** One ahead-of-time kernel. Strings belong to the library. */
typedef struct gyre_kernel {
    const char *name;       /**< "attention_plain_f32_d64__x86_64_avx512" */
    const char *operation;  /**< "attention" */
    const char *variant;    /**< "plain_f32_d64" */
    const char *target;     /**< "x86_64_avx512" */
    const char *attributes; /**< "general=false head_dim=64 … workspace=407552": what it computes, and its facts */
    const char *evidence;   /**< where its knobs come from, in one line */
    int (*call)(void **);   /**< Halide's _argv entry: 0, or Halide's error code */
    const void *image;      /**< a device's machine code, as its driver loads it; NULL: runs on the CPU */
    /** Halide's _metadata entry: which arguments `call` takes. */
    const struct halide_filter_metadata_t *(*metadata)(void);
} gyre_kernel;

/** The kernels of a library. */
typedef struct gyre_kernel_library {
    uint32_t size;              /**< of this structure */
    uint32_t kernel_interface;  /**< GYRE_KERNEL_INTERFACE */
    const char *name;           /**< "my_kernels"; no two registered libraries share one */
    const gyre_kernel *kernels; /**< [count], the library's own memory */
    size_t count;               /**< the number of kernels */
} gyre_kernel_library;

/** Adds a library, which must stay in memory until it is taken away. Calls see it from now on; of two kernels for the same
 *  call and target, the one of the library that was registered last is taken. Nothing is added where this fails. Thread-safe.
 *  Errors: BAD_ARGUMENT (null, size, a name that is registered), UNSUPPORTED (another kernel interface; a kernel that takes other
 *  arguments than this library hands over, both of which gyre_last_error() lists), OUT_OF_MEMORY. */
GYRE_API gyre_status gyre_register_kernels(const gyre_kernel_library *library);

/** Takes a registered library away, before it leaves memory. Calls that run other libraries' kernels may go on meanwhile; none
 *  may be running one of its own. Contexts that are bound to it by gyre_context_options.library find no kernels from now on.
 *  BAD_ARGUMENT: it is not registered. */
GYRE_API gyre_status gyre_unregister_kernels(const gyre_kernel_library *library);

/** Memory of a running kernel, called by it alone: `slab` is what the runtime handed to the kernel. NULL if it is full. */
GYRE_API void *gyre_kernel_malloc(void *slab, size_t bytes);

/** Gives memory of gyre_kernel_malloc() back. */
GYRE_API void gyre_kernel_free(void *slab, void *pointer);

/** A launch on a device, called by running kernels alone: of the function `entry` in the kernel's image, with the addresses of
 *  its arguments. `call` is what the runtime handed to the kernel, and keeps the status; always 0. A grid without blocks is
 *  none. */
GYRE_API int gyre_kernel_launch(void *call, const char *entry, int grid_x, int grid_y, int grid_z, int block_x,
                                int block_y, int block_z, int shared_bytes, void **arguments);

/** The first of these kernels that this machine runs on tensors of such a device: kernels of gyre_add_generator() in CMake, best
 *  first. NULL: it runs none. With one kernel: whether it runs here. */
GYRE_API const gyre_kernel *gyre_choose_kernel(const gyre_kernel *kernels, size_t count, gyre_device device);

/** Runs a kernel of gyre_add_generator(). `arguments` are as Halide's _argv function takes them: the addresses of numbers, and
 *  descriptions of buffers (halide_buffer_t), in the generator's order. The first is Halide's user context, which is set here. The kernel of a
 *  CUDA device takes buffers whose `host` is an address on that device, number `device`, and is queued on `stream`, a CUstream or
 *  cudaStream_t, NULL: the default one; others ignore both. Halide's checks of arguments report as Halide's runtime does: they end
 *  the process unless halide_set_error_handler() was called.
 *  Errors: BAD_ARGUMENT (null, a device below 0), UNSUPPORTED (the kernel does not run on this machine), OUT_OF_MEMORY, INTERNAL (the
 *  kernel or its launch failed). */
GYRE_API gyre_status gyre_run_kernel(const gyre_kernel *kernel, void **arguments, int32_t device, void *stream);

GYRE_LAYOUT(gyre_kernel, metadata, 72, 64, 36, 32);
GYRE_LAYOUT(gyre_kernel_library, count, 32, 24, 20, 16);

#ifdef __cplusplus
}
#endif
#endif
