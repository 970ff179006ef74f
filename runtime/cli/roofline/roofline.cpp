#include "roofline.h"

#include "fma_loops.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

namespace gyre::roofline {
namespace {

/// Repeats `work` for at least `seconds` on every thread of the team and adds up what each did a second.
double total_rate(ThreadTeam &team, double seconds, double work_per_call, const std::function<void(int)> &work) {
    std::vector<double> rates(team.count());
    team.run([&](int thread) {
        using Clock = std::chrono::steady_clock;
        work(thread); // wakes up the wide units, touches the memory
        const Clock::time_point begin = Clock::now();
        double elapsed = 0;
        std::int64_t calls = 0;
        do {
            work(thread);
            calls++;
            elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
        } while (elapsed < seconds);
        rates[thread] = double(calls) * work_per_call / elapsed;
    });
    return std::accumulate(rates.begin(), rates.end(), 0.0);
}

} // namespace

bool can_run(InstructionSet set) { return fma_loop(set).run != nullptr; }

Roofline::Roofline(int threads) : team_(threads) {}

double Roofline::fma_gflops(InstructionSet set, double seconds) {
    const FmaLoop loop = fma_loop(set);
    if (!loop.run) return 0;
    const std::int64_t iterations = 2000; // about 10 microseconds: the clock is read seldom, and soon enough
    return 1e-9 * total_rate(team_, seconds, loop.flops_per_iteration * double(iterations),
                             [&](int) { loop.run(iterations); });
}

double Roofline::copy_gbytes_per_s(std::size_t bytes, double seconds) {
    if (bytes == 0) return 0;
    if (bytes > capacity_) {
        capacity_ = 0;
        from_.reset(new char[bytes]());
        to_.reset(new char[bytes]());
        capacity_ = bytes;
    }
    const std::size_t threads = std::size_t(team_.count());
    const std::size_t share = bytes / threads;
    return 1e-9 * total_rate(team_, seconds, 2.0 * double(bytes) / double(threads), [&](int thread) {
               const std::size_t begin = share * std::size_t(thread);
               const std::size_t end = std::size_t(thread) + 1 == threads ? bytes : begin + share;
               std::memcpy(to_.get() + begin, from_.get() + begin, end - begin);
               asm volatile("" ::"r"(to_.get()) : "memory"); // a copy that nobody reads must not be left out
           });
}

} // namespace gyre::roofline
