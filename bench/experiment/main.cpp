/// gyre_experiment: trains a small transformer with one of several encodings of position. See README.md.
///     exit code 0   done, or stopped by --stop-after
///               2   bad usage, or a checkpoint that cannot be used
///               1   a failure while running, such as a full disk; the last good checkpoint is kept
#include "console/errors.h"
#include "console/terminal.h"
#include "files/output_file.h"
#include "linear.h"
#include "training.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

namespace gyre::experiment {
namespace {

/// The target of the kernels that were made for this model's head size, unless the environment names one.
std::string target_of_own_kernels() {
    if (std::getenv("GYRE_TARGET")) return "";
    for (const gyre_kernel_info &kernel : kernels())
        if (std::string(kernel.library) == "gyre_experiment_kernels" && kernel.runnable) return kernel.target;
    return "";
}

Context make_context(std::int32_t threads, const std::string &target) {
    ContextOptions options;
    options.threads = threads;
    if (!target.empty()) options.target = target.c_str();
    return Context(options);
}

void use_paper_size(RunOptions &o) {
    o.sizes.layers = 6;
    o.sizes.d_model = 512;
    o.sizes.heads = 8;
    o.sizes.d_ff = 2048;
    o.length = 641;
    o.batch = 8;
    o.steps = 5000;
    o.rate = 3e-4;
    o.evaluations = 50;
    o.evaluated = 32;
}

int run(int argc, char **argv) {
    RunOptions options;
    bool paper = false;
    std::string probabilities;
    std::int32_t threads = 1;
    std::string target = target_of_own_kernels();
    CLI::App app("Trains a small transformer on a task of positions.", "gyre_experiment");
    app.add_option("--task", options.task, "dist, sub, add or nback");
    app.add_option("--encoding", options.encoding, "rope, roper, values, alibi, t5, sin, learned or none");
    app.add_option("--seed", options.seed, "of weights and data");
    app.add_flag("--paper", paper, "19 M parameters, sequences of 641 tokens, 5000 steps; before the options below");
    app.add_option("--steps", options.steps, "default: the task's");
    app.add_option("--batch", options.batch, "sequences a step; default: the task's");
    app.add_option("--layers", options.sizes.layers, "default: the task's");
    app.add_option("--length", options.length, "tokens a sequence");
    app.add_option("--rate", options.rate, "highest learning rate");
    app.add_option("--tokens-at-once", options.tokens_at_once, "of a step's, for the caches");
    app.add_option("--evaluations", options.evaluations, "rows of the curve");
    app.add_option("--evaluated", options.evaluated, "held-out sequences");
    app.add_option("--out", options.directory, "folder for curve and checkpoint, from which a run goes on");
    app.add_option("--probabilities", probabilities,
                   "F.npy: trains nothing, writes what the heads of the checkpoint look at; for gyre plot attention");
    app.add_option("--checkpoint-seconds", options.checkpoint_seconds, "between checkpoints, at most");
    app.add_option("--stop-after", options.stop_after, "steps, then stop; the same command goes on");
    app.add_option("--threads", threads, "of kernels and BLAS");
    app.add_option("--target", target, "of the kernels; default: of those made for this head size");
    const auto report = [](const std::string &message, int code) {
        std::fprintf(stderr, "%s\n", cli::one_line("gyre_experiment: " + message).c_str());
        return code;
    };
    try {
        for (int i = 1; i < argc; i++)
            if (std::string(argv[i]) == "--paper") use_paper_size(options); // which the other options then change
        app.parse(argc, argv);
        complete(options);
        if (threads < 1) cli::refuse("--threads", "got " + std::to_string(threads), "1 or more");
        if (!options.directory.empty()) {
            std::error_code error;
            std::filesystem::create_directories(options.directory, error);
            cli::check_output("--out", options.directory + "/" + options.name() + ".checkpoint");
        }
        modules::set_blas_threads(threads);
        const Context context = make_context(threads, target);
        if (!probabilities.empty()) {
            cli::check_output("--probabilities", probabilities);
            write_attention(context, options, probabilities);
            return 0;
        }
        const std::vector<CurveRow> curve = train(context, options);
        if (curve.empty() || curve.back().step < options.steps) return 0;
        const CurveRow &last = curve.back();
        char text[200];
        std::snprintf(text, sizeof text, "%s: exact match %.4f, longer %.4f, %.1f s, %.2f ms a step",
                      options.name().c_str(), last.exact_match, last.longer_exact_match, last.seconds,
                      1e3 * last.seconds / static_cast<double>(last.step));
        cli::print(text);
        return 0;
    } catch (const CLI::Success &help) {
        return app.exit(help);
    } catch (const CLI::ParseError &error) {
        return report(std::string(error.what()) + "; see --help", 2);
    } catch (const cli::UsageError &error) {
        return report(error.what(), 2);
    } catch (const std::exception &error) {
        return report(error.what(), 1);
    }
}

} // namespace
} // namespace gyre::experiment

int main(int argc, char **argv) {
    try {
        return gyre::experiment::run(argc, argv);
    } catch (...) { // reached only if even reporting fails
        return 1;
    }
}
