#include "contexts.h"

#include <cstdio>
#include <cstdlib>

namespace gyre::fuzz {
namespace {

/// Runs every second task, the last one first: what it leaves out is the caller's.
void run_oddly(void *, int32_t count, void (*task)(void *, int32_t), void *state) {
    for (int32_t i = count - 1; i >= 0; i -= 2) task(state, i);
}

gyre_context *create(const char *target, int32_t threads, gyre_parallel_for pool) {
    gyre_context_options options = gyre_context_defaults();
    options.target = target;
    options.threads = threads;
    options.parallel_for = pool;
    gyre_context *context = nullptr;
    if (gyre_context_create(&options, &context) == GYRE_OK) return context;
    std::fprintf(stderr, "%s: %s\n", target, gyre_last_error());
    std::abort();
}

std::vector<TargetContexts> make() {
    std::vector<TargetContexts> all;
    const char *only = std::getenv("GYRE_TEST_ONLY_TARGET");
    gyre_target_info info;
    for (int32_t i = 0; gyre_target_at(i, &info); i++) {
        if (info.device != GYRE_CPU || !info.linked || !info.runnable) continue;
        if (only && std::string(only) != info.name) continue;
        all.push_back(
            {info.name, create(info.name, 1, nullptr), create(info.name, 3, nullptr), create(info.name, 4, run_oddly)});
    }
    if (!all.empty()) return all;
    std::fprintf(stderr, "no linked target can run on this machine\n");
    std::abort();
}

} // namespace

const std::vector<TargetContexts> &all_contexts() {
    static const auto &all = *new std::vector<TargetContexts>(make());
    return all;
}

} // namespace gyre::fuzz
