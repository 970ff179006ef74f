/// Parallel loops: own threads, or the host's through one callback.
#pragma once
#include "gyre/gyre.h"

#include <atomic>
#include <cstdint>

namespace gyre {

/// The number of processors that this process may run on.
int available_processors();

/// A pool that is started by the first loop that needs it and joined by the destructor.
class Threads {
public:
    Threads(int count, gyre_parallel_for host, void *pool) : count(count), host(host), host_pool(pool) {}
    Threads(const Threads &) = delete;
    Threads &operator=(const Threads &) = delete;
    ~Threads();

    /// Forgets the pool's threads, which a child process has not: the next loop starts others.
    void forget();

    int size() const { return count; }

    /// Runs task(index, worker) once for every index in [0, tasks); worker in [0, min(size(), tasks)) is the same for
    /// no two tasks that run at once. Tasks are handed out in order, one at a time, to whoever is free. A task must not
    /// throw.
    template <typename Task>
    void run(int64_t tasks, const Task &task) {
        run_all(tasks, [&](int64_t index, int worker) {
            task(index, worker);
            return true;
        });
    }

    /// run() of tasks that may fail. Returns whether none did.
    template <typename Task>
    bool run_all(int64_t tasks, const Task &task) {
        return run_each(tasks, &task, [](const void *t, int64_t index, int worker) {
            return (*static_cast<const Task *>(t))(index, worker);
        });
    }

private:
    using Call = bool (*)(const void *task, int64_t index, int worker);

    /// A running loop: who is free takes the next index.
    struct Loop {
        const int64_t tasks;
        const void *const task;
        const Call call;
        const int workers;
        std::atomic<int64_t> next{0};
        std::atomic<int> joined{0}; // of the host's tasks
        std::atomic<bool> ok{true};

        void drain(int worker) {
            for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < tasks;)
                if (!call(task, i, worker)) ok = false;
        }
        void join_from_host();
    };
    struct Pool;

    bool run_each(int64_t tasks, const void *task, Call call);
    void run_parallel(Loop &loop);
    void run_in_host(Loop &loop);
    int start(int needed);

    const int count;
    const bool one_each = count <= available_processors(); // a processor for each thread
    const gyre_parallel_for host;
    void *const host_pool;
    Pool *pool = nullptr;
};

} // namespace gyre
