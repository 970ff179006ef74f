#include "cpu/threads.h"

#include "cpu/call_state.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include <pthread.h>
#if defined(__linux__)
#include <sched.h>
#endif

namespace gyre {
namespace {

constexpr std::chrono::microseconds look_time{50};
constexpr size_t stack_bytes = size_t{256} << 10; // of the pool's threads, as gyre/context.h says

/// Tells the processor that this is a loop that waits.
void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

/// Looks for `happened` for a while, without giving the processor back: what follows soon, as the next loop of a call
/// does, then need not wake a thread, which takes tens of microseconds. Whoever looked in vain sleeps.
template <typename Condition>
void look_for(const Condition &happened) {
    const auto end = std::chrono::steady_clock::now() + look_time;
    do
        for (int i = 0; i < 16; i++) {
            if (happened()) return;
            pause();
        }
    while (std::chrono::steady_clock::now() < end);
}

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

int available_processors() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

/// The threads, and the loop that they run. They hold its address.
struct Threads::Pool {
    explicit Pool(bool one_each) : one_each(one_each) {}

    const bool one_each;
    std::vector<pthread_t> threads;
    std::mutex mutex;
    std::condition_variable wake, done;
    Loop *current = nullptr;             // that threads may join; nullptr: its tasks have all been taken
    std::atomic<uint64_t> generation{0}; // counts loops; a thread that sees a new one joins it
    int wanted = 0;                      // threads of the last loop, the caller's included
    std::atomic<int> running{0};         // threads that have joined the loop and not left it
    std::atomic<int> started{0};
    bool stopping = false;
    Pool *forgotten_before = nullptr;

    bool start_one();
    void work(int worker);
    static Pool *forgotten; // of parent processes, never freed: threads that are not here wait for them
};

Threads::Pool *Threads::Pool::forgotten = nullptr;

void Threads::forget() {
    if (!pool) return;
    pool->forgotten_before = Pool::forgotten;
    Pool::forgotten = pool;
    pool = nullptr;
}

Threads::~Threads() {
    if (!pool) return;
    {
        const std::lock_guard<std::mutex> lock(pool->mutex);
        pool->stopping = true;
    }
    pool->wake.notify_all();
    for (const pthread_t t : pool->threads) pthread_join(t, nullptr);
    delete pool;
}

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

/// Starts threads until there are `needed`; how many there are then. Fewer do the same work.
int Threads::start(int needed) {
    if (!pool) pool = new (std::nothrow) Pool(one_each);
    if (!pool) return 0;
    while (static_cast<int>(pool->threads.size()) < needed && pool->start_one()) {
    }
    const int there = static_cast<int>(pool->threads.size());
    // A thread that begins may hold locks of the C library or of an allocator, which a child process would inherit if the program
    // forked right after the call.
    while (pool->started < there) std::this_thread::yield();
    return there;
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
        loop->drain(worker);
        lock.lock();
        if (--running == 0) done.notify_one();
    }
}

/// Whichever index the host gives: no two threads work as the same one, and none as one that there is no memory for.
void Threads::Loop::join_from_host() {
    const CancellationOff not_cancelled;
    {
        const FloatingPointModes modes;
        const int worker = joined.fetch_add(1);
        if (worker < workers) drain(worker);
    }
    not_cancelled.restore();
}

void Threads::run_in_host(Loop &loop) {
    host(host_pool, loop.workers, [](void *state, int32_t) { static_cast<Loop *>(state)->join_from_host(); }, &loop);
    loop.join_from_host(); // tasks that the host left out
}

void Threads::run_parallel(int64_t tasks, const void *task, void (*call)(const void *, int64_t, int)) {
    Loop loop{tasks, task, call, static_cast<int>(std::min<int64_t>(count, tasks))};
    if (host) return run_in_host(loop);
    const int others = std::min(start(loop.workers - 1), loop.workers - 1);
    if (others == 0) return loop.drain(0);
    Pool &p = *pool;
    {
        const std::lock_guard<std::mutex> lock(p.mutex);
        p.current = &loop;
        p.wanted = others + 1;
        p.generation++;
    }
    p.wake.notify_all();
    loop.drain(0);
    std::unique_lock<std::mutex> lock(p.mutex);
    p.current = nullptr; // Whoever was not given a processor until now is not waited for.
    if (p.running == 0) return;
    lock.unlock();
    if (one_each) look_for([&] { return p.running == 0; });
    lock.lock();
    p.done.wait(lock, [&] { return p.running == 0; });
}

} // namespace gyre
