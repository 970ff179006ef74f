/// Parallel loops: own threads, or the host's through one callback.
#pragma once
#include "gyre/gyre.h"

#include <algorithm>
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
    /// How many places threads begin at.
    int places() const { return std::min(count, most_places); }

    /// Runs task(index, worker) once for every index in [0, tasks); worker in [0, min(size(), tasks)) is the same for
    /// no two tasks that run at once. Threads begin at places of their own, and take tasks from there on, one at a time. A task must
    /// not throw.
    template <typename Task>
    void run(int64_t tasks, const Task &task) {
        run_all(tasks, [&](int64_t index, int worker) {
            task(index, worker);
            return true;
        });
    }

    /// What indices a thread begins with: neighbours, or one of as many as there are threads, where the work of neighbours is most alike.
    enum Share { neighbours, in_turn };

    /// run() of tasks that may fail. Returns whether none did.
    template <typename Task>
    bool run_all(int64_t tasks, const Task &task, Share share = neighbours) {
        return run_each(
            tasks, &task,
            [](const void *t, int64_t index, int worker) { return (*static_cast<const Task *>(t))(index, worker); },
            share);
    }

private:
    static constexpr int most_places = 8; // whoever is done looks at all of them
    using Call = bool (*)(const void *task, int64_t index, int worker);

    /// A running loop. Its indices are cut into ranges. A thread begins in the same range in every loop of so many tasks: what it
    /// read there is then still in its processor's caches. Who is done helps from the first range on, which has the longest tasks where
    /// they differ.
    struct Loop {
        const int64_t tasks;
        const void *const task;
        const Call call;
        const int workers;
        const Share share;
        const int ranges = std::min(workers, most_places);
        std::atomic<int> joined{0}; // of the host's tasks
        std::atomic<bool> ok{true};
        struct alignas(64) Range {
            std::atomic<int64_t> next{0}; // places that were taken
        } taken[most_places]{};

        int64_t size(int r) const { return tasks / ranges + (r < tasks % ranges); }
        /// The task at place i of range r.
        int64_t index(int r, int64_t i) const {
            return share == in_turn ? i * ranges + r : tasks / ranges * r + std::min<int64_t>(r, tasks % ranges) + i;
        }
        void drain(int worker, int place);
        void join_from_host(int place);
    };
    struct Pool;

    bool run_each(int64_t tasks, const void *task, Call call, Share share);
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
