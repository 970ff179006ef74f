#include "cpu/thread_pool.h"

#include "cpu/call_state.h"
#include "cpu/waiting.h"

#include <cerrno>
#include <csignal>
#include <new>

namespace gyre {
namespace {

constexpr size_t stack_bytes = size_t{256} << 10; // of the pool's threads, as gyre/context.h says

/// Blocks, while it lives, the signals that are sent to the process: threads that start meanwhile leave them to the host's.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
            sigdelset(&all, own); // what a thread itself does
        pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    SignalsBlocked(const SignalsBlocked &) = delete;
    SignalsBlocked &operator=(const SignalsBlocked &) = delete;

private:
    sigset_t before;
};

} // namespace

Threads::Pool *Threads::Pool::forgotten = nullptr;

bool Threads::Pool::start_one() {
    try {
        threads.reserve(threads.size() + 1);
    } catch (const std::bad_alloc &) {
        return false;
    }
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return false;
    pthread_attr_setstacksize(&attributes, stack_bytes);
    const auto run = [](void *pool) -> void * {
        auto &own = *static_cast<Pool *>(pool);
        own.work(++own.started);
        return nullptr;
    };
    const SignalsBlocked for_the_thread;
    pthread_t t;
    int result = pthread_create(&t, &attributes, run, this);
    if (result == EINVAL) result = pthread_create(&t, nullptr, run, this); // the program's thread-local data is larger
    pthread_attr_destroy(&attributes);
    if (result) return false;
    threads.push_back(t);
    return true;
}

void Threads::Pool::work(int worker) {
    const FloatingPointModes modes;
    uint64_t seen = 0;
    bool was_wanted = true;
    for (;;) {
        if (one_each && was_wanted) look_for([&] { return generation != seen; });
        std::unique_lock<std::mutex> lock(mutex);
        wake.wait(lock, [&] { return stopping || generation != seen; });
        if (stopping) return;
        seen = generation;
        was_wanted = worker < wanted;
        Loop *loop = current;
        if (!was_wanted || !loop) continue;
        running++;
        lock.unlock();
        loop->drain(worker, worker);
        lock.lock();
        if (--running == 0) done.notify_one();
    }
}

} // namespace gyre
