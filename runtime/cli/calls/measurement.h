/// Times a call beside the machine's peak: runs alternate with short samples of the peak, so that both see the same
/// clock and the same neighbours.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gyre::cli {

class Progress;

struct Measurement {
    std::vector<double> seconds; // a call, one entry a run, ascending
    std::vector<double> peaks;   // one a run, ascending
    std::int64_t calls_per_run = 1;
};

/// Warms up, then makes `repeat` timed runs, or as many as fill about a second, at least 11. A run repeats a short call
/// for a millisecond. sample_peak is called between runs.
Measurement measure(const std::function<void()> &call, const std::function<double()> &sample_peak,
                    std::optional<std::int64_t> repeat, Progress &progress);

/// The value below which a share of the entries lies, 0.5 for the median; between two entries it is interpolated.
double percentile(const std::vector<double> &ascending, double share);

} // namespace gyre::cli
