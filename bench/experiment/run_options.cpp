#include "training.h"

#include "console/errors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gyre::experiment {

std::string RunOptions::words() const {
    char text[400];
    std::snprintf(text, sizeof text,
                  "task=%s encoding=%s seed=%u steps=%lld batch=%lld length=%lld layers=%d d_model=%d heads=%d d_ff=%d "
                  "rate=%g tokens_at_once=%lld evaluations=%lld evaluated=%lld",
                  task.c_str(), encoding.c_str(), seed, static_cast<long long>(steps), static_cast<long long>(batch),
                  static_cast<long long>(length), sizes.layers, sizes.d_model, sizes.heads, sizes.d_ff, rate,
                  static_cast<long long>(tokens_at_once), static_cast<long long>(evaluations),
                  static_cast<long long>(evaluated));
    return text;
}

std::string RunOptions::name() const { return task + "-" + encoding + "-" + std::to_string(seed); }

void complete(RunOptions &o) {
    const Task &task = find_task(o.task);
    std::string names;
    for (const std::string &encoding : encodings()) names += (names.empty() ? "" : ", ") + encoding;
    if (std::find(encodings().begin(), encodings().end(), o.encoding) == encodings().end())
        cli::refuse("--encoding " + o.encoding, "no such encoding", "one of " + names);
    if (o.steps == 0) o.steps = task.steps;
    if (o.batch == 0) o.batch = task.batch;
    if (o.sizes.layers == 0) o.sizes.layers = task.layers;
    o.sizes.vocabulary = task.vocabulary;
    o.sizes.positions = static_cast<std::int32_t>(2 * o.length); // of longer ones (tasks.h)
    o.sizes.outputs = task.output_count(o.length);
    const std::pair<const char *, std::int64_t> counts[] = {{"--steps", o.steps},
                                                            {"--batch", o.batch},
                                                            {"--layers", o.sizes.layers},
                                                            {"--d-model", o.sizes.d_model},
                                                            {"--heads", o.sizes.heads},
                                                            {"--d-ff", o.sizes.d_ff},
                                                            {"--tokens-at-once", o.tokens_at_once},
                                                            {"--evaluations", o.evaluations},
                                                            {"--evaluated", o.evaluated}};
    for (const auto &[name, value] : counts)
        if (value < 1) cli::refuse(name, "got " + std::to_string(value), "1 or more");
    if (o.length < 64) cli::refuse("--length", "got " + std::to_string(o.length), "64 or more, what a task may need");
    if (o.sizes.d_model % (2 * o.sizes.heads) != 0)
        cli::refuse("--d-model", "got " + std::to_string(o.sizes.d_model),
                    "a multiple of twice the heads, " + std::to_string(o.sizes.heads));
    if (!(o.rate > 0 && std::isfinite(o.rate))) cli::refuse("--rate", "got " + std::to_string(o.rate), "above 0");
}

} // namespace gyre::experiment
