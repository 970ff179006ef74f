/// Parallel loops: own threads, or the host's through one callback.
#pragma once
#include "gyre/gyre.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gyre {

/// The number of processors that this process may run on.
int available_processors();

/// A pool that is started by the first loop that needs it and joined by the destructor.
class Threads {
public:
    Threads(int count, gyre_parallel_for host, void *pool) : count(count), host(host), host_pool(pool) {}
    ~Threads();

    int size() const { return count; }

    /// Runs task(index, worker) once for every index in [0, tasks); worker in [0, min(size(), tasks)) is the same for no two
    /// tasks that run at once. Tasks are handed out in order, one at a time, to whoever is free. A task must not throw.
    void run(int64_t tasks, const std::function<void(int64_t, int)> &task);

private:
    void start(int wanted);
    void work(int worker);

    const int count;
    const gyre_parallel_for host;
    void *const host_pool;

    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable wake, done;
    const std::function<void(int)> *job = nullptr;  // of the running loop
    uint64_t generation = 0;                        // counts loops; a thread that sees a new one joins it
    int wanted = 0, running = 0;
    bool stopping = false;
};

}  // namespace gyre
