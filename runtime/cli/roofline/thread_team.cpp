#include "thread_team.h"

namespace gyre::roofline {

ThreadTeam::ThreadTeam(int count) : count_(count) {
    try {
        for (int index = 1; index < count; index++) helpers_.emplace_back([this, index] { work(index); });
    } catch (...) {
        stop();
        throw;
    }
}

ThreadTeam::~ThreadTeam() { stop(); }

void ThreadTeam::stop() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread &helper : helpers_) helper.join();
}

void ThreadTeam::run(const std::function<void(int)> &task) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        task_ = &task;
        awake_ = 0;
        unfinished_ = count_ - 1;
        round_++;
    }
    wake_.notify_all();
    start_together(task, 0);
    std::unique_lock<std::mutex> lock(mutex_);
    finished_.wait(lock, [this] { return unfinished_ == 0; });
}

void ThreadTeam::work(int index) {
    for (long seen = 0;;) {
        const std::function<void(int)> *task;
        {
            std::unique_lock<std::mutex> lock(mutex_);
            wake_.wait(lock, [&] { return stopping_ || round_ != seen; });
            if (stopping_) return;
            seen = round_;
            task = task_;
        }
        start_together(*task, index);
        std::lock_guard<std::mutex> lock(mutex_);
        if (--unfinished_ == 0) finished_.notify_one();
    }
}

// Spins for the last few microseconds: a sleeping wait would let the first threads run ahead alone. It yields, because
// there may be fewer cores than threads.
void ThreadTeam::start_together(const std::function<void(int)> &task, int index) {
    awake_++;
    while (awake_ < count_) std::this_thread::yield();
    task(index);
}

} // namespace gyre::roofline
