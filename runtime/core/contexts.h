/// All contexts of the process, which a child process has, too.
#pragma once
#include "core/context.h"

namespace gyre {

struct Contexts {
    std::mutex mutex, of_default;
    gyre_context *first = nullptr;
    gyre_context *defaults =
        nullptr; // of calls with NULL; never destroyed, since calls may go on while the process ends
};

Contexts &contexts();

/// Makes contexts of child processes work without the parent's threads, from the first call on. Errors: out of memory.
gyre_status watch_forks();

/// Makes a context, as gyre_context_create() does of complete options.
gyre_status make_context(const gyre_context_options &options, gyre_context **context);

/// The first context of calls with NULL, `of_default` being held.
gyre_status find_first_default(gyre_context **context);

} // namespace gyre
