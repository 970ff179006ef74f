#include "bench_report.h"

#include "common_options.h"

#include <iomanip>
#include <sstream>

namespace gyre::cli {
namespace {

Json summarize(const BenchReport &report) {
    const std::vector<double> &seconds = report.measurement.seconds;
    const double median = percentile(seconds, 0.5);
    const double gflops = 1e-9 * report.work.flops / median;
    const double gbytes_per_s = 1e-9 * report.work.bytes / median;
    const double peak = percentile(report.measurement.peaks, 0.5);
    const double rate = report.peak_is_copy ? gbytes_per_s : gflops;
    const bool has_peak = !report.peak_name.empty() && peak > 0;
    return {{"operation", report.operation},
            {"kernel", report.kernel},
            {"target", target_of_kernel(report.kernel)},
            {"dtype", report.dtype},
            {"shape", to_json(report.shape)},
            {"threads", report.threads},
            {"runs", seconds.size()},
            {"calls_per_run", report.measurement.calls_per_run},
            {"median_us", 1e6 * median},
            {"min_us", 1e6 * seconds.front()},
            {"p10_us", 1e6 * percentile(seconds, 0.1)},
            {"p90_us", 1e6 * percentile(seconds, 0.9)},
            {"gflops", gflops},
            {"gbytes_per_s", gbytes_per_s},
            {"peak", has_peak ? Json(peak) : Json()},
            {"peak_unit", report.peak_is_copy ? "GB/s" : "GFLOP/s"},
            {"peak_name", report.peak_name},
            {"percent_of_peak", has_peak ? Json(100 * rate / peak) : Json()}};
}

} // namespace

std::string to_json(const BenchReport &report) { return json_text(summarize(report)); }

std::string to_text(const BenchReport &report) {
    const Json json = summarize(report);
    const auto number = [&json](const char *key) { return json[key].get<double>(); };
    std::ostringstream text;
    text << report.kernel << "   " << report.dtype;
    for (const auto &[key, size] : json["shape"].items()) text << " " << key << "=" << size;
    text << "   threads " << report.threads << "\n" << std::fixed << std::setprecision(1);
    text << "time   median " << number("median_us") << " us, p10 " << number("p10_us") << ", p90 " << number("p90_us")
         << ", min " << number("min_us") << "   (" << json["runs"] << " runs of " << json["calls_per_run"] << ")\n";
    text << "rate   " << number("gflops") << " GFLOP/s, " << number("gbytes_per_s") << " GB/s\n";
    if (json["peak"].is_null()) {
        text << "peak   not known for this target";
    } else {
        text << "peak   " << number("peak") << " " << json["peak_unit"].get<std::string>() << " (" << report.peak_name
             << ", measured between the runs): " << number("percent_of_peak") << " % of it reached";
    }
    return text.str();
}

} // namespace gyre::cli
