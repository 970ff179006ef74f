/// gyre_tune_runner: loads kernel libraries side by side, compares one with the oracles, and times them alternately.
///
///     gyre_tune_runner --kernel attention_plain_f32_d64 --library reference=a.so --library candidate=b.so
///                      --verify candidate --shape b=1,h=8,hkv=8,lq=1024,lk=1024,d=64
///
/// One JSON object a line on stdout. Exit code 0: done; 1: a library failed or was wrong, and the last line says how;
/// 2: bad usage. Linked with the runtime and exporting it: the libraries' undefined symbols are gyre_* of this program.
#include "events.h"
#include "libraries.h"
#include "limits.h"
#include "operations.h"
#include "session.h"

#include "roofline.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <deque>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

namespace gyre::tune {
namespace {

struct Options {
    std::string kernel, verify, ratio_to;
    std::vector<std::string> libraries, shapes;
    std::int32_t threads = 1;
    bool thorough = false, only_timed = false, peak = false;
    std::int64_t limit_seconds = 0, limit_memory = 0;
    SessionOptions session;
};

void verify(const Library &library, const Options &options) {
    tell("stage", {{"text", "verifying"}});
    const Operation &operation = operation_of(library.kernel());
    int cases = 0;
    if (!options.only_timed) cases = operation.verify(library.context(), library.kernel(), {options.thorough, {}});
    for (const std::string &shape : options.shapes)
        if (options.only_timed) cases += operation.verify(library.context(), library.kernel(), {false, Shape(shape)});
    library.check_selected();
    tell("verified", {{"library", library.role()}, {"cases", cases}});
}

/// Returns how the last library's time compares with the first's.
double time(const std::deque<Library> &libraries, const Options &options, const std::string &shape_text) {
    tell("stage", {{"text", "timing " + shape_text}});
    const gyre_kernel_info &kernel = libraries[0].kernel();
    const std::unique_ptr<Workload> workload = operation_of(kernel).workload(kernel, Shape(shape_text));
    roofline::Roofline roofline(options.threads);
    const bool by_copy = std::string(kernel.operation) != "attention";
    const auto set = roofline::instruction_set_of_target(kernel.target);
    const double sample_seconds = 0.5e-3;
    std::function<double()> sample_peak;
    if (options.peak && by_copy)
        sample_peak = [&] { return roofline.copy_gbytes_per_s(std::size_t(workload->bytes() / 2), sample_seconds); };
    else if (options.peak && set && roofline::can_run(*set))
        sample_peak = [&] { return roofline.fma_gflops(*set, sample_seconds); };
    const Session session = run_session(*workload, libraries, options.session, sample_peak);
    Json seconds = Json::object();
    for (std::size_t i = 0; i < libraries.size(); i++) seconds[libraries[i].role()] = session.seconds[i];
    tell("timed", {{"shape", shape_text},
                   {"threads", options.threads},
                   {"calls_per_round", session.calls_per_round},
                   {"cut", session.cut},
                   {"work", 1e-9 * (by_copy ? workload->bytes() : workload->flops())},
                   {"work_unit", by_copy ? "GB" : "GFLOP"},
                   {"peaks", session.peaks},
                   {"seconds", seconds}});
    return median_ratio(session.seconds.back(), session.seconds.front());
}

void run(const Options &options) {
    limit_seconds(options.limit_seconds, options.threads);
    limit_memory(options.limit_memory);
    std::deque<Library> libraries;
    for (const std::string &given : options.libraries) {
        const std::size_t equals = given.find('=');
        if (equals == std::string::npos) throw CLI::ValidationError("--library", "'" + given + "'; expected role=path");
        tell("stage", {{"text", "loading " + given.substr(0, equals)}});
        libraries.emplace_back(given.substr(0, equals), given.substr(equals + 1), options.kernel, options.threads);
    }
    for (const Library &library : libraries)
        if (library.role() == options.verify) verify(library, options);
    double logs = 0;
    for (const std::string &shape : options.shapes) logs += std::log(time(libraries, options, shape));
    if (options.ratio_to.empty() || options.shapes.empty()) return;
    const std::string &last = options.libraries.back();
    std::ofstream file(options.ratio_to);
    file << std::fixed << std::exp(logs / double(options.shapes.size())) << " " << last.substr(last.find('=') + 1)
         << "\n";
}

int run(int argc, char **argv) {
    CLI::App app("Verifies and times kernel libraries for gyre tune.", "gyre_tune_runner");
    Options options;
    app.add_option("--kernel", options.kernel, "operation_variant")->required();
    app.add_option("--library", options.libraries,
                   "role=file.so, in the order of their turns; the first is the reference")
        ->required()
        ->allow_extra_args(false);
    app.add_option("--verify", options.verify, "compare the library of this role with the oracles before it is timed");
    app.add_flag("--thorough", options.thorough, "with more calls");
    app.add_flag("--only-timed", options.only_timed, "with calls of the timed shapes alone");
    app.add_option("--shape", options.shapes, "time this, say b=1,h=8,hkv=8,lq=1024,lk=1024,d=64")
        ->allow_extra_args(false);
    app.add_option("--threads", options.threads)->check(CLI::Range(1, 1 << 12));
    app.add_option("--seconds", options.session.seconds, "of timed rounds, for each shape");
    app.add_option("--fewest-rounds", options.session.fewest_rounds)->check(CLI::Range(1, 1 << 20));
    app.add_option("--most-rounds", options.session.most_rounds)->check(CLI::Range(1, 1 << 20));
    app.add_option("--hopeless", options.session.hopeless,
                   "ratio of first calls at which the last library is given up");
    app.add_option("--cut", options.session.cut, "median ratio at which it is, after the fewest rounds");
    app.add_option("--ratio-to", options.ratio_to,
                   "write the geometric mean of the last library's ratios, and its file, for scripts to sort");
    app.add_flag("--peak", options.peak, "measure the machine's peak between rounds");
    app.add_option("--limit-seconds", options.limit_seconds, "end after so many");
    app.add_option("--limit-memory", options.limit_memory, "MiB");
    try {
        app.parse(argc, argv);
        run(options);
        return 0;
    } catch (const CLI::ParseError &error) {
        return app.exit(error) ? 2 : 0;
    } catch (const WrongResult &wrong) {
        tell("wrong", {{"text", wrong.what()}});
    } catch (const std::bad_alloc &) {
        tell("failed", {{"text", "out of memory"}});
    } catch (const std::exception &error) {
        tell("failed", {{"text", error.what()}});
    }
    return 1;
}

} // namespace
} // namespace gyre::tune

int main(int argc, char **argv) {
    try {
        return gyre::tune::run(argc, argv);
    } catch (...) { // reached only if even reporting fails
        return 1;
    }
}
