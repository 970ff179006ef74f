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

void Threads::Loop::drain(int worker, int place) {
    for (int r = -1; r < ranges; r++) {
        const int range = r < 0 ? place % ranges : r;
        const int64_t all = size(range);
        std::atomic<int64_t> &next = taken[range].next;
        if (next.load(std::memory_order_relaxed) >= all) continue; // leaves the line with whoever has it
        for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < all;)
            if (!call(task, index(range, i), worker)) ok = false;
    }
}

/// Whichever index the host gives: no two threads work as the same one, and none as one that there is no memory for. Hosts give
/// an index to the same thread as in the loop before, if to any: it tells the place.
void Threads::Loop::join_from_host(int place) {
    const CancellationOff not_cancelled;
    {
        const FloatingPointModes modes;
        const int worker = joined.fetch_add(1);
        if (worker < workers) drain(worker, place);
    }
    not_cancelled.restore();
}

void Threads::run_in_host(Loop &loop) {
    host(
        host_pool, loop.workers,
        [](void *state, int32_t index) { static_cast<Loop *>(state)->join_from_host(index < 0 ? 0 : index); }, &loop);
    loop.join_from_host(0); // tasks that the host left out
}

/// One function for loops of every task, so that small programs hold each task's code once.
bool Threads::run_each(int64_t tasks, const void *task, Call call, Share share) {
    if (count == 1 || tasks <= 1) {
        bool ok = true;
        for (int64_t i = 0; i < tasks; i++) ok &= call(task, i, 0);
        return ok;
    }
    Loop loop{tasks, task, call, static_cast<int>(std::min<int64_t>(count, tasks)), share};
    if (host)
        run_in_host(loop);
    else
        run_parallel(loop);
    return loop.ok;
}

void Threads::run_parallel(Loop &loop) {
    const int others = std::min(start(loop.workers - 1), loop.workers - 1);
    if (others == 0) return loop.drain(0, 0);
    Pool &p = *pool;
    {
        const std::lock_guard<std::mutex> lock(p.mutex);
        p.current = &loop;
        p.wanted = others + 1;
        p.generation++;
    }
    p.wake.notify_all();
    loop.drain(0, 0);
    std::unique_lock<std::mutex> lock(p.mutex);
    p.current = nullptr; // Whoever was not given a processor until now is not waited for.
    if (p.running == 0) return;
    lock.unlock();
    if (one_each) look_for([&] { return p.running == 0; });
    lock.lock();
    p.done.wait(lock, [&] { return p.running == 0; });
}

} // namespace gyre
