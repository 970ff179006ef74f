// Contexts of calls with NULL.
#include "core/contexts.h"
#include "core/error.h"

namespace gyre {
namespace {

/// Makes a context for calls with NULL. Each has as many threads as the others, since sizes of workspaces depend on that; but
/// those after the first leave all work to the caller, or callers would start threads without bound.
gyre_status create_default(bool first, gyre_context **context) {
    gyre_context_options options = gyre_context_defaults();
    if (!first) options.parallel_for = [](void *, int32_t, void (*)(void *, int32_t), void *) {};
    GYRE_TRY(make_context(options, context));
    (*context)->is_default = true;
    return GYRE_OK;
}

} // namespace

gyre_status find_first_default(gyre_context **context) {
    if (!contexts().defaults) GYRE_TRY(create_default(true, &contexts().defaults));
    *context = contexts().defaults;
    return GYRE_OK;
}

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

} // namespace gyre
