#include "training.h"

#include "checkpoint.h"
#include "console/errors.h"
#include "console/terminal.h"
#include "evaluation.h"
#include "files/npy.h"
#include "optimizer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace gyre::experiment {
namespace {

constexpr std::uint32_t training_data = 2, held_out_data = 3, longer_data = 4; // what random numbers are for
constexpr std::int64_t longer_sequences = 128;

double processor_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string duration(double seconds) {
    char text[40];
    if (seconds < 120)
        std::snprintf(text, sizeof text, "%.0f s", seconds);
    else if (seconds < 7200)
        std::snprintf(text, sizeof text, "%.0f min", seconds / 60);
    else
        std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
    return text;
}

class Run {
public:
    Run(gyre_context *context, const RunOptions &options, bool save_attention = false)
        : context_(context), options_(options), task_(find_task(options.task)),
          model_(options.sizes, options.encoding, options.seed, save_attention),
          optimizer_(model_.parameters(), optimizer_options()),
          held_out_(data(held_out_data, options.evaluated, Split::held_out)),
          longer_(data(longer_data, std::min(longer_sequences, options.evaluated), Split::longer)) {}

    std::vector<CurveRow> train();
    void write_attention(const std::string &to);

private:
    OptimizerOptions optimizer_options() const {
        OptimizerOptions o;
        o.rate = options_.rate;
        return o;
    }
    /// These batches are the same for every run of a task.
    Batch data(std::uint32_t what, std::int64_t sequences, Split split) const {
        Random random({what});
        return task_.make(random, sequences, options_.length, split);
    }
    std::string path(const char *extension) const { return options_.directory + "/" + options_.name() + extension; }
    bool keeps() const { return !options_.directory.empty(); }
    /// Evaluations after steps that are a share of all, the last one at the end.
    bool is_evaluated(std::int64_t done) const {
        const std::int64_t n = options_.evaluations, steps = options_.steps;
        return done * n / steps != (done - 1) * n / steps;
    }

    void step();
    void evaluate_now();
    void save();
    void show(cli::Progress &line, double done_here, double seconds_here) const;

    gyre_context *context_;
    const RunOptions &options_;
    const Task &task_;
    Transformer model_;
    Optimizer optimizer_;
    const Batch held_out_, longer_;
    Progress progress_;
    double last_loss_ = 0;
};

void Run::step() {
    Random random({options_.seed, static_cast<std::uint32_t>(progress_.step), training_data});
    const Batch batch = task_.make(random, options_.batch, options_.length, Split::training);
    const double begin = processor_seconds();
    optimizer_.clear_gradients();
    const double targets = static_cast<double>(std::max<std::int64_t>(1, target_count(batch)));
    const std::int64_t at_once = std::max<std::int64_t>(1, options_.tokens_at_once / options_.length);
    last_loss_ = 0;
    for (std::int64_t first = 0; first < batch.sequences; first += at_once) {
        const Batch part = part_of(batch, first, std::min(at_once, batch.sequences - first));
        std::vector<float> &logits = model_.forward(context_, part.tokens, part.sequences, part.length);
        last_loss_ += summed_loss(part, options_.sizes.outputs, static_cast<float>(1 / targets), logits) / targets;
        model_.backward(context_, logits);
    }
    optimizer_.update(progress_.step, options_.steps);
    progress_.seconds += processor_seconds() - begin;
    progress_.step++;
    progress_.loss_sum += last_loss_;
    progress_.loss_count++;
}

void Run::evaluate_now() {
    const Score held_out = evaluate(context_, model_, options_.sizes.outputs, held_out_);
    const Score longer = evaluate(context_, model_, options_.sizes.outputs, longer_);
    CurveRow row;
    row.step = progress_.step;
    row.train_loss = progress_.loss_sum / static_cast<double>(std::max<std::int64_t>(1, progress_.loss_count));
    row.held_out_loss = held_out.loss;
    row.exact_match = held_out.exact_match;
    row.longer_exact_match = longer.exact_match;
    row.seconds = progress_.seconds;
    row.tokens_per_second = static_cast<double>(progress_.step * options_.batch * options_.length) / progress_.seconds;
    progress_.curve.push_back(row);
    progress_.loss_sum = 0;
    progress_.loss_count = 0;
    if (isatty(STDERR_FILENO)) return;
    char text[200];
    std::snprintf(text, sizeof text,
                  "%-18s step %5lld  loss %.4f  held out %.4f  exact match %.4f  longer %.4f  %.1f ms a step",
                  options_.name().c_str(), static_cast<long long>(row.step), row.train_loss, row.held_out_loss,
                  row.exact_match, row.longer_exact_match, 1e3 * row.seconds / static_cast<double>(row.step));
    cli::print(text);
}

void Run::save() {
    if (!keeps()) return;
    save_checkpoint(path(".checkpoint"), options_.words(), progress_, model_.parameters(), optimizer_);
    write_csv(path(".csv"), {options_.task, options_.encoding, std::to_string(options_.seed)}, progress_.curve);
}

/// ▕████████      ▏ with loss, speed and the time that is left.
void Run::show(cli::Progress &line, double done_here, double seconds_here) const {
    constexpr int width = 24;
    const double done = static_cast<double>(progress_.step) / static_cast<double>(options_.steps);
    const auto full = static_cast<std::size_t>(done * width);
    const double rate = done_here / seconds_here;
    char text[160];
    std::snprintf(text, sizeof text, "] %lld/%lld  loss %.4f  %.0f tokens/s  %s left",
                  static_cast<long long>(progress_.step), static_cast<long long>(options_.steps), last_loss_,
                  rate * static_cast<double>(options_.batch * options_.length),
                  duration(static_cast<double>(options_.steps - progress_.step) / rate).c_str());
    line.show(options_.name() + " [" + std::string(full, '#') + std::string(width - full, ' ') + text);
}

std::vector<CurveRow> Run::train() {
    const bool resumed =
        keeps() && load_checkpoint(path(".checkpoint"), options_.words(), &progress_, model_.parameters(), &optimizer_);
    const std::int64_t first = progress_.step;
    std::int64_t last = options_.steps;
    if (options_.stop_after >= 0) last = std::min(last, first + options_.stop_after);
    if (resumed && first < options_.steps)
        cli::print(options_.name() + ": going on after step " + std::to_string(first));

    cli::Progress line;
    const double begin = wall_seconds();
    double saved = begin, shown = begin;
    while (progress_.step < last) {
        step();
        const double now = wall_seconds();
        const double here = static_cast<double>(progress_.step - first);
        if (progress_.step == first + 3) {
            const double left = static_cast<double>(options_.steps - progress_.step) * (now - begin) / here;
            if (left > 120 && !isatty(STDERR_FILENO)) // a terminal is told all the time
                cli::print(options_.name() + ": " + std::to_string(model_.parameter_count()) +
                           " parameters, estimated time " + duration(left));
        }
        const bool is_due = is_evaluated(progress_.step);
        if (is_due) evaluate_now();
        if (is_due || progress_.step == last || now - saved > options_.checkpoint_seconds) {
            save();
            saved = now;
        }
        if (now - shown > 0.2) {
            show(line, here, now - begin);
            shown = now;
        }
    }
    return progress_.curve;
}

void Run::write_attention(const std::string &to) {
    if (!keeps() ||
        !load_checkpoint(path(".checkpoint"), options_.words(), &progress_, model_.parameters(), &optimizer_))
        cli::refuse("--probabilities", "no checkpoint of this run in --out", "a run that has trained");
    const std::int64_t length = options_.length, layers = options_.sizes.layers, heads = options_.sizes.heads;
    model_.forward(context_, std::vector<std::int32_t>(held_out_.tokens.begin(), held_out_.tokens.begin() + length), 1,
                   length);
    const std::vector<float> maps = model_.attention();
    cli::Array array = cli::make_array("--probabilities", GYRE_F32, {layers, heads, length, length});
    std::memcpy(array.bytes.data(), maps.data(), maps.size() * sizeof(float));
    cli::write_npy({{to, &array}});
    cli::print(to + ": after step " + std::to_string(progress_.step) + ", " + std::to_string(layers) + " layers of " +
               std::to_string(heads) + " heads, " + std::to_string(length) + " tokens");
}

} // namespace

void write_attention(gyre_context *context, const RunOptions &options, const std::string &path) {
    Run(context, options, true).write_attention(path);
}

std::vector<CurveRow> train(gyre_context *context, const RunOptions &options) { return Run(context, options).train(); }

} // namespace gyre::experiment
