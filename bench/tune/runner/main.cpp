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
#include "options.h"
#include "own_kernel.h"
#include "session.h"

#include "console/command.h"
#include "console/errors.h"
#include "options/option_values.h"
#include "roofline.h"

#include <cmath>
#include <cstdio>
#include <deque>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

namespace gyre::tune {
namespace {

void verify(const Library &library, const Library &reference, const Options &options) {
    tell(event("stage").add("text", "verifying"));
    if (is_own(library.kernel())) {
        compare_with_reference(reference, library);
        tell(event("verified").add("library", library.role()).add("cases", 1));
        return;
    }
    const Operation &operation = operation_of(library.kernel());
    int cases = 0;
    if (!options.only_timed) cases = operation.verify(library.context(), library.kernel(), {options.thorough, {}});
    for (const std::string &shape : options.shapes)
        if (options.only_timed) cases += operation.verify(library.context(), library.kernel(), {false, Shape(shape)});
    library.check_selected();
    tell(event("verified").add("library", library.role()).add("cases", cases));
}

/// Returns how the last library's time compares with the first's.
double time(const std::deque<Library> &libraries, const Options &options, const std::string &shape_text) {
    tell(event("stage").add("text", "timing " + shape_text));
    const gyre_kernel_info &kernel = libraries[0].kernel();
    const std::unique_ptr<Workload> workload = operation_of(kernel).workload(kernel, Shape(shape_text));
    roofline::Roofline roofline(options.threads);
    const bool by_copy = std::string(kernel.operation) != "attention";
    const auto set = roofline::instruction_set_of_kernel(kernel.target, kernel.attributes);
    const double sample_seconds = 0.5e-3;
    std::function<double()> sample_peak;
    if (options.peak && by_copy)
        sample_peak = [&] { return roofline.copy_gbytes_per_s(std::size_t(workload->bytes() / 2), sample_seconds); };
    else if (options.peak && set && roofline::can_run(*set))
        sample_peak = [&] { return roofline.fma_gflops(*set, sample_seconds); };
    const Session session = run_session(*workload, libraries, options.session, sample_peak);
    cli::JsonObject seconds;
    for (std::size_t i = 0; i < libraries.size(); i++) seconds.add(libraries[i].role().c_str(), session.seconds[i]);
    cli::JsonObject timed = event("timed");
    timed.add("shape", shape_text);
    timed.add("threads", options.threads);
    timed.add("calls_per_round", session.calls_per_round);
    timed.add("cut", session.cut);
    timed.add("work", 1e-9 * (by_copy ? workload->bytes() : workload->flops()));
    timed.add("work_unit", by_copy ? "GB" : "GFLOP");
    timed.add("peaks", session.peaks);
    timed.add("seconds", seconds);
    tell(timed);
    return median_ratio(session.seconds.back(), session.seconds.front());
}

void run(const Options &options) {
    limit_seconds(options.limit_seconds, options.threads);
    limit_memory(options.limit_memory);
    std::deque<Library> libraries;
    for (const std::string &given : options.libraries) {
        const std::size_t equals = given.find('=');
        if (equals == std::string::npos) cli::refuse("--library", "'" + given + "'", "role=path");
        tell(event("stage").add("text", "loading " + given.substr(0, equals)));
        libraries.emplace_back(given.substr(0, equals), given.substr(equals + 1), options.kernel, options.threads);
    }
    for (const Library &library : libraries)
        if (library.role() == options.verify) verify(library, libraries.front(), options);
    double logs = 0;
    for (const std::string &shape : options.shapes) logs += std::log(time(libraries, options, shape));
    if (options.ratio_to.empty() || options.shapes.empty()) return;
    const std::string &last = options.libraries.back();
    std::ofstream file(options.ratio_to);
    file << std::fixed << std::exp(logs / double(options.shapes.size())) << " " << last.substr(last.find('=') + 1)
         << "\n";
}

/// Whether all went well; if not, the last event says what did not.
bool run_and_tell(const Options &options) {
    try {
        run(options);
        return true;
    } catch (const cli::UsageError &) {
        throw;
    } catch (const WrongResult &wrong) {
        tell(event("wrong").add("text", wrong.what()));
    } catch (const std::bad_alloc &) {
        tell(event("failed").add("text", "out of memory"));
    } catch (const std::exception &error) {
        tell(event("failed").add("text", error.what()));
    }
    return false;
}

int run(int argc, char **argv) {
    const cli::Program program = {"gyre_tune_runner", "Verifies and times kernel libraries for gyre tune.",
                                  std::string("gyre ") + gyre_version()};
    GivenOptions given;
    bool is_well = true;
    const int exit_code = cli::run_command_line(argc, argv, program, [&](const cli::Command &command) {
        add_options(command, given);
        command.run([&] { is_well = run_and_tell(given.options()); });
    });
    return is_well ? exit_code : 1;
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
