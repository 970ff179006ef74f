/// Threads that do something at once, and what went wrong in any of them.
#pragma once
#include <gyre/gyre.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace gyre::test {

constexpr int callers = 4, rounds = 5;
inline std::atomic<int> failures{0};

inline void expect(bool ok, const std::string &what) {
    if (ok) return;
    std::fprintf(stderr, "%s: %s\n", what.c_str(), gyre_last_error());
    failures++;
}

/// All at once.
inline void in_threads(int count, const std::function<void(int)> &work) {
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back([&, i] {
            ready++;
            while (ready < count) std::this_thread::yield();
            work(i);
        });
    for (std::thread &t : threads) t.join();
}

} // namespace gyre::test
