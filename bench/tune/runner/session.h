/// A timed session: libraries take turns, call by call, so that a machine that drifts or is shared slows all of them
/// alike and ratios of their times mean something.
#pragma once

#include "libraries.h"
#include "workload.h"

#include <deque>
#include <functional>
#include <vector>

namespace gyre::tune {

struct SessionOptions {
    double seconds = 1;             // of timed rounds, about
    std::int64_t fewest_rounds = 7; // however long they take
    std::int64_t most_rounds = 400;
    double hopeless = 0; // 0: never; give up the last library when its first calls take so many times the first's time
    double cut = 0;      // 0: never; likewise after fewest_rounds, by the median ratio
};

struct Session {
    std::vector<std::vector<double>> seconds; // of a call, by library, one entry a round
    std::vector<double> peaks;                // of sample_peak, one a round
    std::int64_t calls_per_round = 1;
    bool cut = false; // the last library was given up
};

/// `sample_peak` may be empty. Throws Failure if a call fails.
Session run_session(Workload &workload, const std::deque<Library> &libraries, const SessionOptions &options,
                    const std::function<double()> &sample_peak);

/// The median, over rounds, of how one library's time compares with another's.
double median_ratio(const std::vector<double> &own, const std::vector<double> &other);

} // namespace gyre::tune
