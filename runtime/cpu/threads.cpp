#include "cpu/threads.h"

#include "cpu/call_state.h"
#include "cpu/thread_pool.h"
#include "cpu/waiting.h"

#include <algorithm>
#include <new>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace gyre {

int available_processors() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

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

/// One function for loops of every task, so that small programs hold each task's code once.
bool Threads::run_each(int64_t tasks, const void *task, Call call) {
    if (count == 1 || tasks <= 1) {
        bool ok = true;
        for (int64_t i = 0; i < tasks; i++) ok &= call(task, i, 0);
        return ok;
    }
    Loop loop{tasks, task, call, static_cast<int>(std::min<int64_t>(count, tasks))};
    if (host)
        run_in_host(loop);
    else
        run_parallel(loop);
    return loop.ok;
}

void Threads::run_parallel(Loop &loop) {
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
