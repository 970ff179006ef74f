/// Checkpoints of the training experiment: a run that goes on is the run that was not interrupted, and files that cannot be
/// used or written leave everything as it was.
#include "support/doctest.h"

#include "checkpoint.h"
#include "console/errors.h"
#include "linear.h"
#include "training.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

using namespace gyre::experiment;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, removed in the end.
struct Folder {
    const std::string path = (fs::temp_directory_path() / ("gyre-experiment-" + std::to_string(getpid()))).string();
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    std::string operator/(const std::string &name) const { return path + "/" + name; }
};

std::string read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::string &path, const std::string &bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

RunOptions small_run(const std::string &directory) {
    RunOptions o;
    o.steps = 12;
    o.batch = 3;
    o.evaluations = 3;
    o.evaluated = 4;
    o.directory = directory;
    complete(o);
    return o;
}

/// Weights and moments, in one list.
struct Model {
    Transformer transformer;
    Optimizer optimizer;
    Progress progress;

    explicit Model(const RunOptions &o)
        : transformer(o.sizes, o.encoding, o.seed), optimizer(transformer.parameters(), {}) {}
    bool load(const std::string &path, const std::string &run) {
        return load_checkpoint(path, run, &progress, transformer.parameters(), &optimizer);
    }
    void save(const std::string &path, const std::string &run) const {
        save_checkpoint(path, run, progress, transformer.parameters(), optimizer);
    }
    std::vector<float> numbers() const {
        std::vector<float> all;
        for (const gyre::Parameter &p : transformer.parameters()) all.insert(all.end(), p.values, p.values + p.size());
        for (const auto *moments : {&optimizer.first, &optimizer.second})
            for (const std::vector<float> &m : *moments) all.insert(all.end(), m.begin(), m.end());
        return all;
    }
};

/// What the message says; "" if nothing was thrown.
template <typename Error, typename Call>
std::string message_of(Call &&call) {
    try {
        call();
    } catch (const Error &error) {
        return error.what();
    }
    return "";
}

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("a run that was stopped goes on to the same numbers, bit for bit") {
    gyre::modules::set_blas_threads(1);
    const gyre::Context context;
    const Folder folder;
    fs::create_directories(folder / "whole");
    fs::create_directories(folder / "stopped");
    const RunOptions whole = small_run(folder / "whole");
    const std::vector<CurveRow> expected = train(context, whole);

    RunOptions stopped = small_run(folder / "stopped");
    for (std::int64_t steps : {1, 4, 0, 100}) { // amid an evaluation's interval, at its end, not at all
        stopped.stop_after = steps;
        const std::vector<CurveRow> curve = train(context, stopped);
        CHECK(curve.size() == (steps == 1 ? 0 : steps == 100 ? 3 : 1));
    }
    Model a(whole), b(stopped);
    REQUIRE(a.load(folder / "whole/dist-roper-0.checkpoint", whole.words()));
    REQUIRE(b.load(folder / "stopped/dist-roper-0.checkpoint", stopped.words()));
    CHECK(a.progress.step == whole.steps);
    CHECK(b.progress.step == whole.steps);
    CHECK(a.numbers() == b.numbers());
    REQUIRE(expected.size() == 3);
    REQUIRE(b.progress.curve.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); i++) {
        CHECK(b.progress.curve[i].step == expected[i].step);
        CHECK(b.progress.curve[i].train_loss == expected[i].train_loss);
        CHECK(b.progress.curve[i].held_out_loss == expected[i].held_out_loss);
        CHECK(b.progress.curve[i].exact_match == expected[i].exact_match);
    }
    Model untrained(whole); // so that equality says something
    CHECK(untrained.numbers() != a.numbers());
}

TEST_CASE("a checkpoint that cannot be used is refused, and changes nothing") {
    const Folder folder;
    const RunOptions options = small_run(folder.path);
    const std::string path = folder / "run.checkpoint", run = "some run";
    Model model(options);
    CHECK_FALSE(model.load(path, run)); // no file
    model.progress.step = 7;
    model.save(path, run);
    const std::string good = read_file(path);
    const std::vector<float> before = model.numbers();

    const auto refused = [&](const std::string &bytes) {
        write_file(path, bytes);
        const std::string message = message_of<gyre::cli::UsageError>([&] { model.load(path, run); });
        CHECK(has(message, path));
        CHECK(model.numbers() == before);
        CHECK(model.progress.step == 7);
        return message;
    };
    for (std::size_t size : {good.size() - 1, good.size() / 2, std::size_t{60}, std::size_t{40}})
        CHECK(has(refused(good.substr(0, size)), "ends too early"));
    CHECK(has(refused(""), "no checkpoint"));
    CHECK(has(refused("PK\x03\x04 something else, and long enough to be looked at"), "no checkpoint"));
    CHECK(has(refused(good + "x"), "goes on after its end"));
    std::string damaged = good;
    damaged[good.size() / 2] ^= 1;
    CHECK(has(refused(damaged), "checksum"));
    write_file(path, good);
    CHECK(has(message_of<gyre::cli::UsageError>([&] { model.load(path, "another run"); }), "'some run'"));
    CHECK(model.load(path, run));

    const gyre::Parameter &weight = model.transformer.parameters().back();
    for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        weight.values[1] = bad;
        model.save(path, run); // as a defect would have written it
        Model fresh(options);
        const std::string message = message_of<gyre::cli::UsageError>([&] { fresh.load(path, run); });
        CHECK(has(message, weight.name));
        CHECK(has(message, "finite"));
    }
}

TEST_CASE("a full disk is told, and the last good checkpoint stays") {
    const Folder folder;
    const std::string path = folder / "run.checkpoint";
    Model model(small_run(folder.path));
    model.save(path, "run");
    const std::string good = read_file(path);

    model.progress.step = 3;
    rlimit usual{};
    getrlimit(RLIMIT_FSIZE, &usual);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, usual.rlim_max}; // files cannot grow beyond it: writing fails as on a full disk
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string message = message_of<gyre::cli::RunError>([&] { model.save(path, "run"); });
    setrlimit(RLIMIT_FSIZE, &usual);
    std::signal(SIGXFSZ, handler);

    CHECK(has(message, path));
    CHECK(has(message, "cannot be written"));
    CHECK(read_file(path) == good);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto &entry : fs::directory_iterator(folder.path)) files++;
    CHECK(files == 1); // nothing half-written is left
}

TEST_CASE("gradients that are not finite stop the run before the weights change") {
    const Folder folder;
    Model model(small_run(folder.path));
    const std::vector<float> before = model.numbers();
    model.optimizer.clear_gradients();
    model.transformer.parameters().front().gradients[0] = std::numeric_limits<float>::quiet_NaN();
    CHECK(has(message_of<gyre::cli::RunError>([&] { model.optimizer.update(4, 10); }), "step 4"));
    CHECK(model.numbers() == before);
}
