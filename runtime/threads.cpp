#include "threads.h"

#include <algorithm>
#include <chrono>

#if defined(__linux__)
#include <sched.h>
#endif

namespace gyre {
namespace {

constexpr std::chrono::microseconds look_time{50};

/// Tells the processor that this is a loop that waits.
void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

} // namespace

int available_processors() {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

template <typename Condition>
void Threads::look_for(const Condition &happened) const {
    if (!one_each) return;
    const auto end = std::chrono::steady_clock::now() + look_time;
    do
        for (int i = 0; i < 16; i++) {
            if (happened()) return;
            pause();
        }
    while (std::chrono::steady_clock::now() < end);
}

Threads::~Threads() {
    {
        const std::lock_guard<std::mutex> lock(mutex);
        stopping = true;
    }
    wake.notify_all();
    for (std::thread &t : threads) t.join();
}

void Threads::start(int needed) {
    while (static_cast<int>(threads.size()) < needed) {
        const int worker = static_cast<int>(threads.size()) + 1;
        try {
            threads.emplace_back([this, worker] { work(worker); });
        } catch (const std::system_error &) {
            return; // fewer threads do the same work
        }
    }
}

void Threads::work(int worker) {
    uint64_t seen = 0;
    for (;;) {
        look_for([&] { return generation != seen; });
        std::unique_lock<std::mutex> lock(mutex);
        wake.wait(lock, [&] { return stopping || (generation != seen && worker < wanted); });
        if (stopping) return;
        seen = generation;
        Loop *loop = current;
        lock.unlock();
        loop->drain(worker);
        lock.lock();
        if (--running == 0) done.notify_one();
    }
}

void Threads::run_parallel(Loop &&loop) {
    const int workers = static_cast<int>(std::min<int64_t>(count, loop.tasks));
    if (host) {
        return host(
            host_pool, workers, [](void *state, int32_t index) { static_cast<Loop *>(state)->drain(index); }, &loop);
    }
    {
        const std::lock_guard<std::mutex> lock(mutex);
        start(workers - 1);
        current = &loop;
        wanted = std::min(workers, static_cast<int>(threads.size()) + 1);
        running = wanted - 1;
        generation++;
    }
    wake.notify_all();
    loop.drain(0);
    look_for([&] { return running == 0; });
    std::unique_lock<std::mutex> lock(mutex);
    done.wait(lock, [&] { return running == 0; });
    wanted = 0;
}

} // namespace gyre
