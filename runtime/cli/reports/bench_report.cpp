#include "reports/bench_report.h"

#include "options/common_options.h"

#include <iomanip>
#include <optional>
#include <sstream>

namespace gyre::cli {
namespace {

struct Rates {
    double median, min, p10, p90; // microseconds
    double gflops, gbytes_per_s;
    std::optional<double> peak, percent_of_peak;
};

Rates rates_of(const BenchReport &report) {
    const std::vector<double> &seconds = report.measurement.seconds;
    const double median = percentile(seconds, 0.5);
    Rates rates{};
    rates.median = 1e6 * median;
    rates.min = 1e6 * seconds.front();
    rates.p10 = 1e6 * percentile(seconds, 0.1);
    rates.p90 = 1e6 * percentile(seconds, 0.9);
    rates.gflops = 1e-9 * report.work.flops / median;
    rates.gbytes_per_s = 1e-9 * report.work.bytes / median;
    const double peak = percentile(report.measurement.peaks, 0.5);
    if (report.peak_name.empty() || !(peak > 0)) return rates;
    rates.peak = peak;
    rates.percent_of_peak = 100 * (report.peak_is_copy ? rates.gbytes_per_s : rates.gflops) / peak;
    return rates;
}

const char *peak_unit(const BenchReport &report) { return report.peak_is_copy ? "GB/s" : "GFLOP/s"; }

void add_or_null(JsonObject &json, const char *key, const std::optional<double> &value) {
    if (value)
        json.add(key, *value);
    else
        json.add_null(key);
}

} // namespace

std::string to_json(const BenchReport &report) {
    const Rates rates = rates_of(report);
    JsonObject json;
    json.add("operation", report.operation);
    json.add("kernel", report.kernel);
    json.add("target", target_of_kernel(report.kernel));
    json.add("dtype", report.dtype);
    json.add("shape", to_json(report.shape));
    json.add("threads", report.threads);
    json.add("runs", report.measurement.seconds.size());
    json.add("calls_per_run", report.measurement.calls_per_run);
    json.add("median_us", rates.median);
    json.add("min_us", rates.min);
    json.add("p10_us", rates.p10);
    json.add("p90_us", rates.p90);
    json.add("gflops", rates.gflops);
    json.add("gbytes_per_s", rates.gbytes_per_s);
    add_or_null(json, "peak", rates.peak);
    json.add("peak_unit", peak_unit(report));
    json.add("peak_name", report.peak_name);
    add_or_null(json, "percent_of_peak", rates.percent_of_peak);
    return json.text();
}

std::string to_text(const BenchReport &report) {
    const Rates rates = rates_of(report);
    std::ostringstream text;
    text << report.kernel << "   " << report.dtype << to_text(report.shape) << "   threads " << report.threads << "\n";
    text << std::fixed << std::setprecision(1);
    text << "time   median " << rates.median << " us, p10 " << rates.p10 << ", p90 " << rates.p90 << ", min "
         << rates.min << "   (" << report.measurement.seconds.size() << " runs of " << report.measurement.calls_per_run
         << ")\n";
    text << "rate   " << rates.gflops << " GFLOP/s, " << rates.gbytes_per_s << " GB/s\n";
    if (!rates.peak) {
        text << "peak   not known for this target";
    } else {
        text << "peak   " << *rates.peak << " " << peak_unit(report) << " (" << report.peak_name
             << ", measured between the runs): " << *rates.percent_of_peak << " % of it reached";
    }
    return text.str();
}

} // namespace gyre::cli
