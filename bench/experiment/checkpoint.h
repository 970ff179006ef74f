/// A run on disk, from which it goes on as if it had not been interrupted.
#pragma once

#include "curve.h"
#include "optimizer.h"

#include <string>
#include <vector>

namespace gyre::experiment {

struct Progress {
    std::int64_t step = 0; // steps done
    double loss_sum = 0;   // since the last row of the curve
    std::int64_t loss_count = 0;
    double seconds = 0; // of processor time in training steps
    std::vector<CurveRow> curve;
};

/// Everything that the next step depends on, in one file that appears whole or not at all: a failure leaves the one before
/// as it was. Throws cli::RunError, say because the disk is full.
///   run   what is trained and how, in words: a run of other words does not read the file
void save_checkpoint(const std::string &path, const std::string &run, const Progress &progress,
                     const std::vector<Parameter> &parameters, const Optimizer &optimizer);

/// False if there is no file. Throws cli::UsageError, with nothing changed, if it is no checkpoint, of another run, truncated,
/// damaged, or holds numbers that are not finite.
bool load_checkpoint(const std::string &path, const std::string &run, Progress *progress,
                     const std::vector<Parameter> &parameters, Optimizer *optimizer);

} // namespace gyre::experiment
