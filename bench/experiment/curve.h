/// What a run has to show: one row for every evaluation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gyre::experiment {

struct CurveRow {
    std::int64_t step = 0; // steps done
    double train_loss = 0; // mean since the row before, nats a target
    double held_out_loss = 0;
    double exact_match = 0;        // share of the held-out questions that are answered without a mistake
    double longer_exact_match = 0; // of those that are longer than anything trained on
    double seconds = 0;            // of processor time, in training steps
    double tokens_per_second = 0;
};

/// Writes rows as CSV, with a header; the file appears whole or not at all. Throws cli::RunError.
///   labels: task, encoding and seed, the first columns of every row
void write_csv(const std::string &path, const std::vector<std::string> &labels, const std::vector<CurveRow> &rows);

} // namespace gyre::experiment
