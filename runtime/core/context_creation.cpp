// Which target, library and threads a new context has.
#include "core/contexts.h"
#include "core/error.h"
#include "core/features.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace gyre {
namespace {

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

} // namespace

gyre_status make_context(const gyre_context_options &o, gyre_context **context) {
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
    if (!best && library)
        return refuse(GYRE_UNSUPPORTED, "library", "\"%.64s\" has no kernel that this machine can run", o.library);
    if (!best && list->kernels().empty())
        return fail(Failure::unsupported, "no kernels are linked: link gyre::gyre, or a library of gyre_add_kernels()");
    if (!best) return refuse(GYRE_UNSUPPORTED, "target", "no linked kernel can run on this machine");
    const int threads = o.threads ? o.threads : available_processors();
    GYRE_TRY(watch_forks());
    *context = new gyre_context(forced, best, library, threads, o.parallel_for, o.pool, o.cuda_stream);
    return GYRE_OK;
}

} // namespace gyre
