/// Every operation, type and target on threads with stacks of 64 KiB: the calling thread, a context's own, and a host's pool. Each call is
/// the first of its process. stack_use.cpp measures them, and ends a process where one takes more than is promised.
#include "operations.h"
#include "support/painted_stack.h"
#include "support/stack_use.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gyre::test;

namespace {

struct Work {
    void (*run)(void *state, int32_t index);
    void *state;
    int32_t index;
    size_t used;
};

void *on_thread(void *work) {
    auto &w = *static_cast<Work *>(work);
    const PaintedStack painted(small_thread_stack);
    w.run(w.state, w.index);
    w.used = painted.used();
    return nullptr;
}

/// Runs run(state, 0) … run(state, count - 1), each on a thread with a small stack. The library's threads get theirs by the same
/// request for a size (stack_use.cpp).
void on_small_stacks(void *, int32_t count, void (*run)(void *state, int32_t index), void *state) {
    std::vector<Work> work;
    for (int32_t index = 0; index < count; index++) work.push_back({run, state, index, 0});
    std::vector<pthread_t> threads((size_t)count);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) std::abort();
    for (size_t i = 0; i < work.size(); i++)
        if (pthread_create(&threads[i], &attributes, on_thread, &work[i])) std::abort();
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    for (const Work &w : work)
        if (w.used > promised_stack + 4096) { // and this program's own around a call
            std::fprintf(stderr, "a task took %zu bytes of stack\n", w.used);
            std::abort();
        }
}

/// Does the work in a process of its own. 0: it returned 0.
template <typename Work>
int in_process(const std::string &name, const Work &work) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int failures = work();
        std::fflush(stdout);
        std::_Exit(failures != 0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 1;
    if (WIFSIGNALED(status)) std::fprintf(stderr, "%s: signal %d\n", name.c_str(), WTERMSIG(status));
    return status != 0;
}

/// Calls once. 0: the call succeeded.
int call(const Operation &operation, const std::string &name) {
    struct State {
        const Operation &operation;
        gyre_status status;
    } state{operation, GYRE_INTERNAL};
    on_small_stacks(
        nullptr, 1,
        [](void *s, int32_t) { static_cast<State *>(s)->status = static_cast<State *>(s)->operation.run(); }, &state);
    std::printf("%-60s %6zu %6zu %s\n", name.c_str(), most_stack_of_calls(), most_stack_of_threads(),
                gyre_status_string(state.status));
    return state.status != GYRE_OK;
}

std::vector<std::string> runnable_targets() {
    std::vector<std::string> names;
    gyre_target_info target;
    for (int32_t i = 0; gyre_target_at(i, &target); i++)
        if (target.linked && target.runnable && target.device == GYRE_CPU) names.emplace_back(target.name);
    return names;
}

} // namespace

int main() {
    int failures = 0;
    const struct {
        const char *name;
        int threads;
        gyre_parallel_for pool;
    } pools[] = {{"one thread", 1, nullptr}, {"own threads", 3, nullptr}, {"the host's pool", 3, on_small_stacks}};
    const std::vector<std::string> targets = runnable_targets();
    for (const std::string &target : targets)
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const auto &pool : pools)
                failures += in_process(target, [&] {
                    int failed = 0;
                    for (const Operation &operation : operations({pool.threads, pool.pool, target.c_str(), dtype})) {
                        const std::string type = dtype == GYRE_F32 ? "f32" : dtype == GYRE_F16 ? "f16" : "bf16";
                        const std::string name = target + " " + type + ", " + pool.name + ": " + operation.name;
                        failed += in_process(name, [&] { return call(operation, name); });
                    }
                    return failed;
                });
    std::printf("%zu target(s), %d failure(s)\n", targets.size(), failures);
    return failures != 0 || targets.empty();
}
