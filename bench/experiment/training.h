/// One run: a task, an encoding and a seed.
#pragma once

#include "curve.h"
#include "tasks.h"
#include "transformer.h"

#include <cstdint>
#include <string>

namespace gyre::experiment {

struct RunOptions {
    std::string task = "dist", encoding = "roper";
    std::uint32_t seed = 0;
    std::int64_t steps = 0, batch = 0;           // 0: the task's own
    std::int64_t length = 64;                    // tokens a sequence
    TransformerSizes sizes{0, 0, 64, 4, 0, 256}; // layers 0: the task's own
    double rate = 3e-3;
    std::int64_t tokens_at_once = 512; // of a step's, whose gradients are added up: few enough for the caches
    std::int64_t evaluations = 10;
    std::int64_t evaluated = 384;   // held-out sequences
    std::string directory;          // for the curve and the checkpoint; "": neither is written
    double checkpoint_seconds = 60; // at least so often, and at every evaluation
    std::int64_t stop_after = -1;   // steps of this call; -1: all. For trying out a resumed run

    /// What is trained and how, in words; the numbers of a run depend on nothing else.
    std::string words() const;
    std::string name() const; // of its files
};

/// Fills in what a task decides. Throws cli::UsageError for what makes no sense.
void complete(RunOptions &options);

/// Trains, from the directory's checkpoint on if there is one, and gives the curve so far.
/// Shows progress on stderr if that is a terminal, else a line an evaluation on stdout.
std::vector<CurveRow> train(gyre_context *context, const RunOptions &options);

/// What each head of a run's checkpoint looks at in the first held-out sequence: probabilities, [layers, heads, length, length], as
/// .npy. Throws cli::UsageError without a checkpoint.
void write_attention(gyre_context *context, const RunOptions &options, const std::string &path);

} // namespace gyre::experiment
