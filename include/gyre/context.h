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

/** Threads, target and scratch memory that calls share. Calls that share a context run one after the other; threads that call at
 *  once need a context each. NULL is accepted wherever a context is, and means all cores and the best target. Calls with NULL do not
 *  wait for each other: the process's threads work for one of them at a time, and meanwhile others run on the threads that call. */
typedef struct gyre_context gyre_context;

/** The host's thread pool: runs task(state, 0) … task(state, count - 1), in any order, possibly at once, and returns
 *  when all are done. count is at most the context's number of threads. The calling thread does what the pool leaves
 *  out. A task takes at most 32 KiB of its thread's stack. Without such a pool, a context has threads of
 *  its own with stacks of 256 KiB, which block the process's signals. */
typedef void (*gyre_parallel_for)(void *pool, int32_t count, void (*task)(void *state, int32_t index), void *state);

/** Options of gyre_context_create(). */
typedef struct gyre_context_options {
    /** Bytes of the structure, set by the defaults function. */
    uint32_t size;
    /** The number of threads that work for a call, the caller's included; 0: one for each processor that this process may use. */
    int32_t threads;
    /** The target whose kernels run. NULL: the environment variable GYRE_TARGET, else the best that can run here. A target such as
     *  x86_64_amx has kernels for some calls only; other calls run the kernels of the target that it was made to go with. */
    const char *target;
    /** The caller's thread pool. NULL: the context's own threads, started by the first call that needs them; they block the process's
     *  signals. */
    gyre_parallel_for parallel_for;
    /** The first argument of parallel_for. */
    void *pool;
    /** The only library whose kernels run (gyre/kernels.h); "gyre" names the kernels that are part of this library. NULL: all. */
    const char *library;
    /** The CUstream or cudaStream_t on which calls with tensors on a CUDA device are queued that name no stream of their own (cuda_stream of
     *  their arguments); it belongs to the tensors' device. NULL, or cudaStreamLegacy ((CUstream)1):
     *  that device's legacy default stream. It waits for the other streams of its CUDA context and they wait for it, except
     *  non-blocking ones. cudaStreamPerThread ((CUstream)2): the default stream of the calling thread. Programs that are built with
     *  --default-stream per-thread mean that one by NULL; this library never does. */
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

/** The kernel that the last successful call with this context ran (NULL: the last call of this thread with NULL), such as
 *  "attention_plain_f32_d64__x86_64_avx512"; "" before the first. If packed sequences of one call took different kernels, it is the
 *  kernel of the sequence with the most queries. The text stays valid, whatever becomes of the kernel's library. */
GYRE_API const char *gyre_selected_kernel(const gyre_context *context);

/** The library that this kernel is of: "gyre", or a name given to gyre_add_kernels(); "" before the first call. */
GYRE_API const char *gyre_selected_library(const gyre_context *context);

GYRE_GROWING_LAYOUT(gyre_context_options, cuda_stream, 48, 40, 28, 24);

#ifdef __cplusplus
}
#endif
#endif
