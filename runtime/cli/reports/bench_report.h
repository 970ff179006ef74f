/// What gyre bench prints.
#pragma once

#include "calls/measurement.h"
#include "calls/work_done.h"
#include "options/bench_shape.h"

#include <string>

namespace gyre::cli {

struct BenchReport {
    const char *operation = "";
    std::string kernel;
    const char *dtype = "";
    BenchShape shape;
    int threads = 0;
    WorkDone work; // of one call
    Measurement measurement;
    bool peak_is_copy = false; // GB/s instead of GFLOP/s
    std::string peak_name;     // "512-bit FMA"; "" if the peak is not known
};

/// One object: operation, kernel, target, dtype, shape, threads, runs, calls_per_run, median_us, min_us, p10_us,
/// p90_us, gflops, gbytes_per_s, peak, peak_unit, peak_name, percent_of_peak. Rates are those of the median time; peak
/// and percent_of_peak are null if the peak is not known.
std::string to_json(const BenchReport &report);

std::string to_text(const BenchReport &report);

} // namespace gyre::cli
