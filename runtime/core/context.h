/// What calls share: target, threads, scratch memory, and the last frequencies.
#pragma once
#include "core/registry.h"
#include "core/workspace.h"
#include "cpu/threads.h"
#include "gyre/gyre.h"

#include <mutex>
#include <vector>

namespace gyre {

/// The kernel of the last call, and the library that it is of.
struct Selected {
    const char *kernel = "", *library = "";
};

} // namespace gyre

/// Calls hold `busy` from their checks to their end: those that share a context run one after the other.
struct gyre_context {
    gyre_context(const gyre::Target *forced, const gyre::Target *best, const gyre::Library *library, int threads,
                 gyre_parallel_for host, void *pool, void *cuda_stream);
    ~gyre_context();

    /// What a call begins with, `busy` being held: the kernels that are registered now. Errors: throws std::bad_alloc.
    void use_current_kernels();

    /// Tells the kernel that a call ran.
    void select(const gyre::Kernel &kernel);

    const gyre::Target *const forced; // kernels that serve this target only; nullptr: the best that can run
    const gyre::Target *const best;   // what gyre_context_target() tells
    const char *const library;        // the name of the library whose kernels alone are used; nullptr: any
    void *const cuda_stream;          // of calls with tensors on a device that name none
    gyre::Threads threads;
    gyre::Arena arena;
    std::mutex busy;
    std::shared_ptr<const gyre::KernelList> kernels; // of the call that runs, or ran last
    uint64_t usable_targets = 0;                     // of the CPU, a bit for each row of the target table
    gyre::Selected selected;

    /// theta^(-2i / denominator) of the last calls, so that a decoding loop computes them once.
    struct Frequencies {
        double theta = 0;
        int denominator = 0;
        int pairs = 0;
        std::vector<double> inv_freq;
    };
    Frequencies frequencies[2]; // of queries and keys, and of values

    /// The row of a table of kernels that a search by type and sizes found last, so that a loop of calls searches once. By the number
    /// of the search; forgotten with the kernels.
    struct Found {
        gyre_dtype dtype = GYRE_F32;
        int64_t sizes[2] = {0, 0};
        bool without_terms = false; // of attention: one was looked for that multiplies numbers as they are
        const void *row = nullptr;  // none was found, if `is_known`
        bool is_known = false;
    };
    mutable Found found[24]; // of attention's families

    gyre_context *next = nullptr;         // of all contexts, for a child process
    bool is_default = false;              // of calls with NULL
    gyre_context *next_default = nullptr; // of those
};

namespace gyre {

/// A context that a call holds to its end, so that calls that share one run one after the other. For NULL it is one of the
/// process's that no other call holds: the first of them has threads, calls that find it held run on the caller's thread.
class HeldContext {
public:
    HeldContext() = default;
    ~HeldContext() {
        if (context) context->busy.unlock();
    }
    HeldContext(const HeldContext &) = delete;
    HeldContext &operator=(const HeldContext &) = delete;

    /// Errors: those of gyre_context_create().
    gyre_status take(gyre_context *given);

    gyre_context &operator*() const { return *context; }
    gyre_context *operator->() const { return context; }

private:
    gyre_context *context = nullptr;
};

/// True if calls with this context and tensors on `device` may use the kernel: it computes there, is of the forced library, if
/// one is, and on the CPU can run here and is of the forced target, if one is.
bool may_use(const gyre_context &context, const Kernel &kernel, gyre_device device = GYRE_CPU);

/// Refuses calls with tensors on `device` if the context's target is forced to another one. `name`: of the first tensor.
gyre_status check_target_device(const gyre_context &context, gyre_device device, const char *name);

} // namespace gyre
