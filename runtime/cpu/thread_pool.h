/// The threads of Threads, which join loops.
#pragma once
#include "cpu/threads.h"

#include <condition_variable>
#include <mutex>
#include <vector>

#include <pthread.h>

namespace gyre {

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

} // namespace gyre
