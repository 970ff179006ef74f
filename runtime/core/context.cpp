#include "core/context.h"

#include "core/arguments.h"
#include "core/entry.h"
#include "core/features.h"
#include "cpu/cpu_features.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace gyre {
namespace {

/// True if this machine has what the target needs, and the system grants it.
bool obtain(const Target &target) { return can_run(target) && obtain_features(target.features); }

/// All contexts, which a child process has too, without the threads that were at work.
struct Contexts {
    std::mutex mutex, of_default;
    gyre_context *first = nullptr;
    gyre_context *defaults =
        nullptr; // of calls with NULL; never destroyed, since calls may go on while the process ends
};

Contexts &contexts() {
    static Contexts all;
    return all;
}

#if defined(__unix__) || defined(__APPLE__)
// No call is half way through what it changes for others when the process is copied.
void before_fork() {
    contexts().of_default.lock();
    contexts().mutex.lock();
    registry_mutex().lock();
}
void after_fork() {
    registry_mutex().unlock();
    contexts().mutex.unlock();
    contexts().of_default.unlock();
}
// Only the thread that called fork() is here: the parent's others will not give back what they held.
void after_fork_in_child() {
    for (gyre_context *c = contexts().first; c; c = c->next) {
        c->threads.forget();
        new (&c->busy) std::mutex;
    }
    after_fork();
}
#endif

gyre_status watch_forks() {
#if defined(__unix__) || defined(__APPLE__)
    static bool watched = false;
    const std::lock_guard<std::mutex> lock(contexts().mutex);
    if (!watched && pthread_atfork(before_fork, after_fork, after_fork_in_child))
        return fail(Failure::out_of_memory, "context: no memory to follow fork()");
    watched = true;
#endif
    return GYRE_OK;
}

std::string target_names() {
    std::string names;
    for (const Target &t : known_targets()) names += (names.empty() ? "" : ", ") + std::string(t.name);
    return names;
}

std::string library_names(const KernelList &list) {
    std::string names;
    for (const auto &library : list.libraries())
        if (std::any_of(list.kernels().begin(), list.kernels().end(),
                        [&](const Kernel &k) { return k.library == library.get(); }))
            names += (names.empty() ? "" : ", ") + std::string(library->name);
    return names.empty() ? "(none is linked)" : names;
}

gyre_status find_forced_target(const char *name, const char *source, const Target **forced) {
    *forced = find_target(name);
    if (!*forced)
        return refuse(GYRE_BAD_ARGUMENT, source, "got \"%s\", expected one of %s", name, target_names().c_str());
    if (!is_linked(**forced)) return refuse(GYRE_UNSUPPORTED, source, "no kernels of %s are linked", name);
    const std::string missing(first_missing_feature((*forced)->features));
    if (!missing.empty() || ((*forced)->device == GYRE_CPU && !obtain(**forced)))
        return refuse(GYRE_UNSUPPORTED, source, "this machine cannot run %s, it lacks %s", name,
                      missing.empty() ? "the system's permission" : missing.c_str());
    return GYRE_OK;
}

gyre_status create(const gyre_context_options &o, gyre_context **context) {
    if (o.threads < 0) return refuse(GYRE_BAD_ARGUMENT, "threads", "got %d, expected 0 (all) or more", o.threads);
    const Target *forced = nullptr;
    const char *environment = std::getenv("GYRE_TARGET");
    if (o.target) {
        GYRE_TRY(find_forced_target(o.target, "target", &forced));
    } else if (environment && *environment) {
        GYRE_TRY(find_forced_target(environment, "GYRE_TARGET", &forced));
    }
    const auto list = linked_kernels();
    const Library *library = o.library ? list->find_library(o.library) : nullptr;
    if (o.library && !library)
        return refuse(GYRE_BAD_ARGUMENT, "library", "got \"%.64s\", expected one of %s", o.library,
                      library_names(*list).c_str());
    const Target *best = forced;
    for (const Kernel &k : list->kernels())
        if (!best && (!library || k.library == library) && k.row && k.row->device == GYRE_CPU && obtain(*k.row))
            best = k.row;
    if (!best && *prebuilt_refusal()) return fail(Failure::unsupported, "%s", prebuilt_refusal());
    if (!best) return refuse(GYRE_UNSUPPORTED, "target", "no linked kernel can run on this machine");
    const int threads = o.threads ? o.threads : available_processors();
    GYRE_TRY(watch_forks());
    *context = new gyre_context(forced, best, library, threads, o.parallel_for, o.pool, o.cuda_stream);
    return GYRE_OK;
}

} // namespace

namespace {

/// What the last call with NULL on this thread ran: the next one may hold another context.
thread_local Selected selected_without_context;

/// Makes a context for calls with NULL. Each has as many threads as the others, since sizes of workspaces depend on that; but
/// those after the first leave all work to the caller, or callers would start threads without bound.
gyre_status create_default(bool first, gyre_context **context) {
    gyre_context_options options = gyre_context_defaults();
    if (!first) options.parallel_for = [](void *, int32_t, void (*)(void *, int32_t), void *) {};
    GYRE_TRY(create(options, context));
    (*context)->is_default = true;
    return GYRE_OK;
}

/// The first context of calls with NULL, `of_default` being held.
gyre_status find_first_default(gyre_context **context) {
    if (!contexts().defaults) GYRE_TRY(create_default(true, &contexts().defaults));
    *context = contexts().defaults;
    return GYRE_OK;
}

} // namespace

gyre_status HeldContext::take(gyre_context *given) {
    if (given) {
        given->busy.lock();
        context = given;
        return GYRE_OK;
    }
    const std::lock_guard<std::mutex> lock(contexts().of_default);
    gyre_context *each;
    GYRE_TRY(find_first_default(&each));
    while (!each->busy.try_lock()) {
        if (!each->next_default) GYRE_TRY(create_default(false, &each->next_default));
        each = each->next_default;
    }
    context = each;
    return GYRE_OK;
}

bool may_use(const gyre_context &context, const Kernel &kernel, gyre_device device) {
    if (kernel.library->gone || (context.library && kernel.library->name != context.library)) return false;
    if ((kernel.row ? kernel.row->device : GYRE_CPU) != device) return false;
    return device != GYRE_CPU || (kernel.row && context.usable_targets >> index_of(*kernel.row) & 1);
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
        return create(o, context);
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
