/// A few threads that begin the same work at the same moment, so that their rates may be added up.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gyre::roofline {

/// The calling thread and count - 1 others, asleep between runs. Not for use from several threads at once.
class ThreadTeam {
public:
    /// count: >= 1. Throws std::system_error if a thread cannot be started.
    explicit ThreadTeam(int count);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam &) = delete;
    ThreadTeam &operator=(const ThreadTeam &) = delete;

    int count() const { return count_; }

    /// Runs task(0) … task(count - 1), one a thread, none before all threads are awake; returns when all are done. The
    /// task must not throw.
    void run(const std::function<void(int)> &task);

private:
    void work(int index);
    void stop();
    void start_together(const std::function<void(int)> &task, int index);

    const int count_;
    std::mutex mutex_;
    std::condition_variable wake_, finished_;
    const std::function<void(int)> *task_ = nullptr;
    long round_ = 0;     // of run(), guarded by mutex_
    int unfinished_ = 0; // helpers still in this round, guarded by mutex_
    bool stopping_ = false;
    std::atomic<int> awake_{0};
    std::vector<std::thread> helpers_;
};

} // namespace gyre::roofline
