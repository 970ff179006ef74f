#include "core/contexts.h"

#include "core/error.h"

#include <new>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace gyre {

Contexts &contexts() {
    static Contexts all;
    return all;
}

#if defined(__unix__) || defined(__APPLE__)
namespace {

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

} // namespace
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

} // namespace gyre
