/// What a call does its work within (runtime/core/entry.h), seen from inside: a host's pool looks at the thread that hands it tasks.
/// Each call is the first of its process.
#include "operations.h"

#include <cfenv>
#include <cstdio>
#include <cstdlib>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gyre::test;

namespace {

struct Seen {
    int loops = 0;
    bool may_be_cancelled = false; // in any of them
    bool other_rounding = false;
} seen;

/// Finds out by arithmetic, since x86 has two registers of modes, of which calls need one.
bool rounds_to_nearest() {
    const volatile float one = 1, little = 0x1p-30f;
    return one + little == 1;
}

/// Runs the tasks of a loop on the thread that calls, which must be as calls promise.
void look_and_run(void *, int32_t count, void (*run)(void *state, int32_t index), void *state) {
    int before = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_setcancelstate(before, nullptr);
    seen.loops++;
    seen.may_be_cancelled |= before != PTHREAD_CANCEL_DISABLE;
    seen.other_rounding |= !rounds_to_nearest();
    for (int32_t index = 0; index < count; index++) run(state, index);
}

int complain(const Operation &o, const char *what) {
    std::fprintf(stderr, "%s: %s (%s)\n", o.name.c_str(), what, gyre_last_error());
    return 1;
}

/// Calls an operation in a process of its own.
int call(const Operation &o) {
    std::fesetround(FE_UPWARD);
    const gyre_status status = o.run();
    int state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    if (status != GYRE_OK) return complain(o, "failed");
    if (seen.loops == 0 && o.written && o.name != "frequencies") return complain(o, "handed the pool no tasks");
    if (seen.may_be_cancelled) return complain(o, "the thread may be cancelled within the call");
    if (seen.other_rounding) return complain(o, "works with the caller's floating-point modes");
    if (state != PTHREAD_CANCEL_ENABLE) return complain(o, "the thread may no longer be cancelled");
    if (rounds_to_nearest()) return complain(o, "the caller's floating-point modes are lost");
    return 0;
}

} // namespace

int main() {
    int failures = 0;
    for (const Operation &o : operations(Kind{3, look_and_run})) {
        const pid_t child = fork();
        if (child == 0) std::exit(call(o));
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) failures++;
    }
    std::printf("%d failure(s)\n", failures);
    return failures != 0;
}
