#include "context.h"

#include "arguments.h"
#include "cpu_features.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

namespace gyre {
namespace {

std::string target_names() {
    std::string names;
    for (const Target &t : known_targets()) names += (names.empty() ? "" : ", ") + std::string(t.name);
    return names;
}

std::string library_names() {
    std::string names;
    const gyre_kernel_library *last = nullptr;
    for (const Kernel &k : linked_kernels()) {
        if (k.library != last && names.find(k.library->name) == std::string::npos)
            names += (names.empty() ? "" : ", ") + std::string(k.library->name);
        last = k.library;
    }
    return names.empty() ? "(none is linked)" : names;
}

gyre_status find_forced_target(const char *name, const char *source, const Target **forced) {
    *forced = find_target(name);
    if (!*forced)
        return fail(GYRE_BAD_ARGUMENT, "%s: got \"%s\", expected one of %s", source, name, target_names().c_str());
    if (!is_linked(**forced)) return fail(GYRE_UNSUPPORTED, "%s: no kernels of %s are linked", source, name);
    const std::string missing(first_missing_feature((*forced)->features));
    if (!missing.empty())
        return fail(GYRE_UNSUPPORTED, "%s: this machine cannot run %s, it lacks %s", source, name, missing.c_str());
    return GYRE_OK;
}

gyre_status create(const gyre_context_options &o, gyre_context **context) {
    if (o.threads < 0) return fail(GYRE_BAD_ARGUMENT, "threads: got %d, expected 0 (all) or more", o.threads);
    const Target *forced = nullptr;
    const char *environment = std::getenv("GYRE_TARGET");
    if (o.target) {
        GYRE_TRY(find_forced_target(o.target, "target", &forced));
    } else if (environment && *environment) {
        GYRE_TRY(find_forced_target(environment, "GYRE_TARGET", &forced));
    }
    const gyre_kernel_library *library = o.library ? find_library(o.library) : nullptr;
    if (o.library && !library)
        return fail(GYRE_BAD_ARGUMENT, "library: got \"%s\", expected one of %s", o.library, library_names().c_str());
    const Target *best = forced;
    for (const Kernel &k : linked_kernels())
        if (!best && k.runnable && (!library || k.library == library)) best = k.row;
    if (!best) return fail(GYRE_UNSUPPORTED, "target: no linked kernel can run on this machine");
    const int threads = o.threads ? o.threads : available_processors();
    *context = new (std::nothrow) gyre_context(forced, best, library, threads, o.parallel_for, o.pool, o.cuda_stream);
    return *context ? GYRE_OK : fail(GYRE_OUT_OF_MEMORY, "context: no memory");
}

} // namespace

gyre_status resolve_context(gyre_context *given, gyre_context **context) {
    if (given) {
        *context = given;
        return GYRE_OK;
    }
    static std::mutex mutex;
    static std::unique_ptr<gyre_context> shared;
    const std::lock_guard<std::mutex> lock(mutex);
    if (!shared) {
        gyre_context *made = nullptr;
        GYRE_TRY(create(gyre_context_defaults(), &made));
        shared.reset(made);
    }
    *context = shared.get();
    return GYRE_OK;
}

bool may_use(const gyre_context &context, const Kernel &kernel, gyre_device device) {
    if (context.library && kernel.library != context.library) return false;
    if ((kernel.row ? kernel.row->device : GYRE_CPU) != device) return false;
    if (device != GYRE_CPU) return true;
    return context.forced ? serves(kernel.row, *context.forced) : kernel.runnable;
}

gyre_status check_target_device(const gyre_context &context, gyre_device device, const char *name) {
    if (!context.forced || context.forced->device == device) return GYRE_OK;
    return fail(GYRE_UNSUPPORTED, "%s: is %s, where the context's target %s does not compute", name,
                device == GYRE_CPU ? "on the CPU" : "on a CUDA device", context.forced->name);
}

} // namespace gyre

using namespace gyre;

extern "C" gyre_status gyre_context_create(const gyre_context_options *options, gyre_context **context) {
    if (!context) return fail(GYRE_BAD_ARGUMENT, "context: got NULL, expected where to store it");
    *context = nullptr;
    gyre_context_options o = gyre_context_defaults();
    if (options)
        GYRE_TRY(adopt(options, "options", gyre_context_defaults(), offsetof(gyre_context_options, cuda_stream), &o));
    return create(o, context);
}

extern "C" void gyre_context_destroy(gyre_context *context) { delete context; }

extern "C" int32_t gyre_context_threads(const gyre_context *given) {
    gyre_context *context;
    if (resolve_context(const_cast<gyre_context *>(given), &context) != GYRE_OK) return 0;
    return context->threads.size();
}

extern "C" const char *gyre_context_target(const gyre_context *given) {
    gyre_context *context;
    if (resolve_context(const_cast<gyre_context *>(given), &context) != GYRE_OK) return "";
    return context->best->name;
}

extern "C" const char *gyre_selected_library(const gyre_context *given) {
    gyre_context *context;
    if (resolve_context(const_cast<gyre_context *>(given), &context) != GYRE_OK) return "";
    const std::lock_guard<std::mutex> lock(context->busy);
    return context->selected ? context->selected->library->name : "";
}

extern "C" const char *gyre_selected_kernel(const gyre_context *given) {
    gyre_context *context;
    if (resolve_context(const_cast<gyre_context *>(given), &context) != GYRE_OK) return "";
    const std::lock_guard<std::mutex> lock(context->busy);
    return context->selected ? context->selected->name : "";
}
