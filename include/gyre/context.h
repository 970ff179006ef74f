/** @file
 *  Threads, target and scratch memory of calls. */
#ifndef GYRE_CONTEXT_H
#define GYRE_CONTEXT_H

#include "status.h"

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Threads, target and scratch memory that calls share. Calls that share a context run one after the other; else use one a
 *  thread. NULL is accepted wherever a context is: all cores, the best target. Calls with NULL do not wait for each other: the
 *  process's threads work for one of them at a time, and meanwhile others run on the threads that call. */
typedef struct gyre_context gyre_context;

/** The host's thread pool: runs task(state, 0) … task(state, count - 1), in any order, possibly at once, and returns
 *  when all are done. count is at most the context's number of threads. What it leaves out is done by the
 *  calling thread. A task takes at most 32 KiB of its thread's stack. Without a pool of the host's, a context has threads of
 *  its own with stacks of 256 KiB, in which the process's signals are blocked. */
typedef void (*gyre_parallel_for)(void *pool, int32_t count, void (*task)(void *state, int32_t index), void *state);

/** Options of gyre_context_create(). */
typedef struct gyre_context_options {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** How many threads work for a call, the caller's included; 0: as many as this process may run on. */
    int32_t threads;
    /** The target whose kernels run. NULL: the environment variable GYRE_TARGET, else the best that can run here. Where a target has
     *  kernels of its own for some calls only, as x86_64_amx, those of the next one that it is made to go with serve for the
     *  others. */
    const char *target;
    /** The caller's thread pool. NULL: own threads, started by the first call that needs them; signals of the process are blocked
     *  there. */
    gyre_parallel_for parallel_for;
    /** What parallel_for gets as its first argument. */
    void *pool;
    /** The only library whose kernels run (gyre/kernels.h); "gyre" names the kernels that are part of this library. NULL: all. */
    const char *library;
    /** The CUstream or cudaStream_t that calls with tensors on a CUDA device are queued on, one of the tensors' device. NULL: that
     *  device's legacy default stream, which waits for the others of its context, and they for it, but for non-blocking ones.
     *  cudaStreamPerThread ((CUstream)2): the default stream of the thread that calls, which NULL means to programs that are built
     *  with --default-stream per-thread, but never to this library. */
    void *cuda_stream;
} gyre_context_options;

/** Options for all processors, the best target and the kernels of every library. */
static inline gyre_context_options gyre_context_defaults(void) {
    gyre_context_options o;
    memset(&o, 0, sizeof o);
    o.size = (uint32_t)sizeof o;
    return o;
}

/** Makes a context; options may be NULL. Errors: BAD_ARGUMENT (null, threads < 0, unknown target or
 *  library), UNSUPPORTED (a known target that is not linked or that this machine cannot run), OUT_OF_MEMORY. */
GYRE_API gyre_status gyre_context_create(const gyre_context_options *options, gyre_context **context);

/** Ends the context's threads and frees its memory. No call may be running with it. NULL: nothing happens. */
GYRE_API void gyre_context_destroy(gyre_context *context);

/** The number of threads that calls with this context use. */
GYRE_API int32_t gyre_context_threads(const gyre_context *context);

/** The best target that calls with this context use, such as "x86_64_avx512". */
GYRE_API const char *gyre_context_target(const gyre_context *context);

/** The kernel that the last successful call with this context (NULL: the last of this thread with NULL) ran, such as
 *  "attention_plain_f32_d64__x86_64_avx512"; "" before the first. Where packed sequences of one call took different kernels, it is that
 *  of the one with the most queries. The text stays, whatever becomes of the library that the kernel is of. */
GYRE_API const char *gyre_selected_kernel(const gyre_context *context);

/** The library that this kernel is of: "gyre", or a name given to gyre_add_kernels(); "" before the first call. */
GYRE_API const char *gyre_selected_library(const gyre_context *context);

GYRE_GROWING_LAYOUT(gyre_context_options, cuda_stream, 48, 40, 28, 24);

#ifdef __cplusplus
}
#endif
#endif
