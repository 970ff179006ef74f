#include "core/context.h"

#include "core/arguments.h"
#include "core/contexts.h"
#include "core/entry.h"

#include <cstddef>

namespace gyre {
namespace {

/// What the last call with NULL on this thread ran: the next one may hold another context.
thread_local Selected selected_without_context;

} // namespace

bool may_use(const gyre_context &context, const Kernel &kernel, gyre_device device) {
    if (kernel.library->gone || (context.library && kernel.library->name != context.library)) return false;
    if ((kernel.row ? kernel.row->device : GYRE_CPU) != device) return false;
    if (device != GYRE_CPU) // any device's, if no target is forced
        return !context.forced || context.forced->device != device || serves(kernel.row, *context.forced);
    return kernel.row && context.usable_targets >> index_of(*kernel.row) & 1;
}

gyre_status check_target_device(const gyre_context &context, gyre_device device, const char *name) {
    if (!context.forced || context.forced->device == device) return GYRE_OK;
    return refuse(GYRE_UNSUPPORTED, name, "is %s, where the context's target %s does not compute",
                  device == GYRE_CPU ? "on the CPU" : "on a CUDA device", context.forced->name);
}

} // namespace gyre

using namespace gyre;

gyre_context::gyre_context(const Target *forced, const Target *best, const Library *library, int threads,
                           gyre_parallel_for host, void *pool, void *cuda_stream)
    : forced(forced), best(best), library(library ? library->name : nullptr), cuda_stream(cuda_stream),
      threads(threads, host, pool) {
    const std::lock_guard<std::mutex> lock(contexts().mutex);
    next = contexts().first;
    contexts().first = this;
}

gyre_context::~gyre_context() {
    const std::lock_guard<std::mutex> lock(contexts().mutex);
    gyre_context **link = &contexts().first;
    while (*link != this) link = &(*link)->next;
    *link = next;
}

void gyre_context::select(const Kernel &kernel) {
    selected = {kernel.name, kernel.library->name};
    if (is_default) selected_without_context = selected;
}

void gyre_context::use_current_kernels() {
    if (kernels && is_current(kernels.get())) return;
    auto list = linked_kernels();
    uint64_t usable = 0;
    for (const Kernel &k : list->kernels()) {
        if (!k.row || k.row->device != GYRE_CPU) continue;
        const uint64_t bit = uint64_t{1} << index_of(*k.row);
        if (!(usable & bit) && (forced ? serves(k.row, *forced) : obtain(*k.row))) usable |= bit;
    }
    usable_targets = usable;
    for (Found &each : found) each = {};
    kernels = std::move(list);
}

extern "C" gyre_status gyre_context_create(const gyre_context_options *options, gyre_context **context) {
    return enter([&] {
        if (!context) return refuse(GYRE_BAD_ARGUMENT, "context", "got NULL, expected where to store it");
        *context = nullptr;
        gyre_context_options o = gyre_context_defaults();
        if (options)
            GYRE_TRY(
                adopt(options, "options", gyre_context_defaults(), offsetof(gyre_context_options, cuda_stream), &o));
        return make_context(o, context);
    });
}

extern "C" void gyre_context_destroy(gyre_context *context) {
    enter([&] {
        delete context;
        return GYRE_OK;
    });
}

namespace {

/// What one of the functions below tells of a context.
template <typename Result, typename Read>
Result tell(const gyre_context *given, Result otherwise, const Read &read) {
    return enter_or(otherwise, [&] {
        auto *context = const_cast<gyre_context *>(given);
        if (!context) {
            const std::lock_guard<std::mutex> lock(contexts().of_default);
            if (find_first_default(&context) != GYRE_OK) return otherwise;
        }
        return Result(read(*context));
    });
}

} // namespace

extern "C" int32_t gyre_context_threads(const gyre_context *context) {
    return tell(context, 0, [](gyre_context &c) { return c.threads.size(); });
}

extern "C" const char *gyre_context_target(const gyre_context *context) {
    return tell(context, "", [](gyre_context &c) { return c.best->name; });
}

namespace {

Selected selected_with(const gyre_context *given) {
    if (!given) return selected_without_context;
    return tell(given, Selected(), [](gyre_context &c) {
        const std::lock_guard<std::mutex> lock(c.busy);
        return c.selected;
    });
}

} // namespace

extern "C" const char *gyre_selected_library(const gyre_context *context) { return selected_with(context).library; }

extern "C" const char *gyre_selected_kernel(const gyre_context *context) { return selected_with(context).kernel; }
