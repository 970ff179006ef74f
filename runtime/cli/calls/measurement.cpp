#include "calls/measurement.h"

#include "console/terminal.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

namespace gyre::cli {
namespace {

double seconds_of(const std::function<void()> &call, std::int64_t calls) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < calls; i++) call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / double(calls);
}

/// Calls for a while, so that threads are started and memory is mapped; returns the shortest time.
double warm_up(const std::function<void()> &call) {
    const double enough = 0.05;
    call();
    double shortest = seconds_of(call, 1);
    for (double spent = shortest; spent < enough;) {
        const double time = seconds_of(call, 1);
        shortest = std::min(shortest, time);
        spent += std::max(time, 1e-7);
    }
    return std::max(shortest, 1e-9);
}

} // namespace

Measurement measure(const std::function<void()> &call, const std::function<double()> &sample_peak,
                    std::optional<std::int64_t> repeat, Progress &progress) {
    progress.show("warming up");
    const double shortest = warm_up(call);
    const double shortest_run = 1e-3;
    const double all_runs = 1;
    const double fewest_runs = 11;
    const double most_runs = 1000;
    Measurement result;
    result.calls_per_run = std::int64_t(std::ceil(shortest_run / shortest));
    const double fitting = all_runs / (shortest * double(result.calls_per_run));
    const std::int64_t runs = repeat.value_or(std::int64_t(std::clamp(fitting, fewest_runs, most_runs)));
    for (std::int64_t run = 0; run < runs; run++) {
        progress.show("run " + std::to_string(run + 1) + " of " + std::to_string(runs));
        result.peaks.push_back(sample_peak());
        result.seconds.push_back(seconds_of(call, result.calls_per_run));
    }
    std::sort(result.peaks.begin(), result.peaks.end());
    std::sort(result.seconds.begin(), result.seconds.end());
    return result;
}

double percentile(const std::vector<double> &ascending, double share) {
    const double at = share * double(ascending.size() - 1);
    const std::size_t below = std::size_t(at);
    const std::size_t above = std::min(below + 1, ascending.size() - 1);
    return ascending[below] + (at - double(below)) * (ascending[above] - ascending[below]);
}

} // namespace gyre::cli
