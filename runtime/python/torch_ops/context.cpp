// A context for each thread that calls, on PyTorch's threads: no thread waits for another's call, and none is started.
#include "tensors.h"

#include <cstdint>

namespace gyre_torch {
namespace {

void run_on_torch(void *, int32_t count, void (*task)(void *, int32_t), void *state) {
    torch::stable::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) task(state, static_cast<int32_t>(i));
    });
}

/// Made anew when torch.set_num_threads() has changed.
struct Own {
    gyre_context *context = nullptr;
    uint32_t threads = 0;

    ~Own() { gyre_context_destroy(context); }
};

} // namespace

gyre_context *context() {
    static thread_local Own own;
    const uint32_t threads = torch::stable::get_num_threads();
    if (own.context && own.threads == threads) return own.context;
    gyre_context_destroy(own.context);
    own.context = nullptr;
    gyre_context_options options = gyre_context_defaults();
    options.threads = static_cast<int32_t>(threads);
    options.parallel_for = run_on_torch;
    check(gyre_context_create(&options, &own.context));
    own.threads = threads;
    return own.context;
}

} // namespace gyre_torch
