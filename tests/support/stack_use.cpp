#include "stack_use.h"

#include "painted_stack.h"
#include <gyre/gyre.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gyre::test {
namespace {

#ifndef GYRE_STACK_BESIDE_CALLS
#define GYRE_STACK_BESIDE_CALLS 0
#endif
constexpr std::size_t watched = 3 * promised_stack;
constexpr std::size_t allowed = promised_stack + GYRE_STACK_BESIDE_CALLS;

std::atomic<std::size_t> most_of_calls{0}, most_of_threads{0};

/// Ends the program where more was taken than is promised. Called wherever the library may be, also when doctest is not at work.
void note(std::size_t used, std::atomic<std::size_t> &most, const char *what) {
    std::size_t before = most;
    while (before < used && !most.compare_exchange_weak(before, used)) {
    }
    if (used <= allowed) return;
    std::fprintf(stderr, "%s took %zu bytes of stack, at most %zu are promised (include/gyre/promises.md)\n", what,
                 used, promised_stack);
    std::abort();
}

/// A thread of the library, and its stack above a page that nobody may touch.
struct Thread {
    char *stack;
    pthread_t id;
    bool running;
    void *(*run)(void *);
    void *argument;
    std::atomic<const PaintedStack *> painted;
};

constexpr int most_threads = 256; // at once
std::mutex threads_mutex;         // of what starts and joins them; a child process may begin while others measure
std::atomic<Thread *> threads[most_threads];
std::atomic<int> thread_count{0};

/// One whose stack serves again, or another; nullptr: there is no memory, or place.
Thread *take_thread() {
    for (int i = 0; i < thread_count; i++)
        if (!threads[i].load()->running) return threads[i];
    if (thread_count == most_threads) return nullptr;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void *memory = mmap(nullptr, page + small_thread_stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    mprotect(memory, page, PROT_NONE);
    auto *thread = new Thread{static_cast<char *>(memory) + page, {}, false, nullptr, nullptr, {nullptr}};
    threads[thread_count] = thread;
    thread_count++;
    return thread;
}

void note_thread(const Thread &thread) {
    if (const PaintedStack *painted = thread.painted) note(painted->used(), most_of_threads, "a thread of the library");
}

void *run_thread(void *self) {
    auto &thread = *static_cast<Thread *>(self);
    const PaintedStack painted(small_thread_stack);
    thread.painted = &painted;
    void *result = thread.run(thread.argument);
    note_thread(thread);
    thread.painted = nullptr;
    return result;
}

/// True where the thread may be cancelled at any instruction, this program's own included.
bool is_cancelled_anywhere() {
    int type, unused;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS) pthread_setcanceltype(type, &unused);
    return type == PTHREAD_CANCEL_ASYNCHRONOUS;
}

/// A call, and what the library's threads have taken until it returned.
template <typename Result, typename... Parameters, typename... Arguments>
[[gnu::noinline]] Result measure(const char *name, Result (*call)(Parameters...), Arguments... arguments) {
    if (is_cancelled_anywhere()) return call(arguments...);
    const PaintedStack painted(watched);
    const Result result = call(arguments...);
    note(painted.used(), most_of_calls, name);
    for (int i = 0; i < thread_count; i++) note_thread(*threads[i]);
    return result;
}

} // namespace

std::size_t most_stack_of_calls() { return most_of_calls; }
std::size_t most_stack_of_threads() { return most_of_threads; }

} // namespace gyre::test

// What the linker calls in place of the library's functions, and what it calls these.
#define GYRE_MEASURED_OPERATION(name, args_type)                                                                       \
    decltype(name) __real_##name;                                                                                      \
    gyre_status __wrap_##name(gyre_context *context, const args_type *args) {                                          \
        return gyre::test::measure(#name "()", __real_##name, context, args);                                          \
    }                                                                                                                  \
    decltype(name##_workspace_size) __real_##name##_workspace_size;                                                    \
    gyre_status __wrap_##name##_workspace_size(gyre_context *context, const args_type *args, size_t *bytes) {          \
        return gyre::test::measure(#name "_workspace_size()", __real_##name##_workspace_size, context, args, bytes);   \
    }

extern "C" {

GYRE_MEASURED_OPERATION(gyre_attention, gyre_attention_args)
GYRE_MEASURED_OPERATION(gyre_attention_backward, gyre_attention_backward_args)
GYRE_MEASURED_OPERATION(gyre_attention_merge, gyre_attention_merge_args)
GYRE_MEASURED_OPERATION(gyre_cache_append, gyre_cache_append_args)
GYRE_MEASURED_OPERATION(gyre_linear_attention, gyre_linear_attention_args)
GYRE_MEASURED_OPERATION(gyre_linear_attention_backward, gyre_linear_attention_backward_args)
GYRE_MEASURED_OPERATION(gyre_rotary, gyre_rotary_args)
GYRE_MEASURED_OPERATION(gyre_rotary_qk, gyre_rotary_qk_args)

decltype(gyre_context_create) __real_gyre_context_create;
gyre_status __wrap_gyre_context_create(const gyre_context_options *options, gyre_context **context) {
    return gyre::test::measure("gyre_context_create()", __real_gyre_context_create, options, context);
}

decltype(pthread_create) __real_pthread_create;
decltype(pthread_join) __real_pthread_join;

/// The library asks for a size of its threads' stacks; test cases do not, and their threads get what they would.
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    using namespace gyre::test;
    if (!attributes) return __real_pthread_create(id, attributes, run, argument);
    const std::lock_guard<std::mutex> lock(threads_mutex);
    Thread *thread = take_thread();
    pthread_attr_t small;
    if (!thread || pthread_attr_init(&small)) return EAGAIN;
    pthread_attr_setstack(&small, thread->stack, small_thread_stack);
    thread->run = run;
    thread->argument = argument;
    const int result = __real_pthread_create(id, &small, run_thread, thread);
    pthread_attr_destroy(&small);
    if (result == 0) {
        thread->running = true;
        thread->id = *id;
    }
    return result;
}

int __wrap_pthread_join(pthread_t id, void **result) {
    using namespace gyre::test;
    const int status = __real_pthread_join(id, result);
    const std::lock_guard<std::mutex> lock(threads_mutex);
    for (int i = 0; i < thread_count; i++) {
        Thread &thread = *threads[i];
        if (status == 0 && thread.running && pthread_equal(thread.id, id)) thread.running = false;
    }
    return status;
}
}
