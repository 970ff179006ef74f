/// How well a model does on sequences that it is not trained on.
#pragma once

#include "tasks.h"
#include "transformer.h"

namespace gyre::experiment {

struct Score {
    double loss = 0;        // nats a target
    double exact_match = 0; // share of the questions whose every target has the largest logit
    std::int64_t questions = 0;
};

/// The cross-entropy of every target, summed, with its gradient, times `factor`, in place of the logits.
///   logits [sequences * length, outputs]
double summed_loss(const Batch &batch, std::int64_t outputs, float factor, std::vector<float> &logits);

/// Some of a batch's sequences.
Batch part_of(const Batch &all, std::int64_t first, std::int64_t sequences);

/// Targets that a batch asks for.
std::int64_t target_count(const Batch &batch);

Score evaluate(gyre_context *context, Transformer &model, std::int64_t outputs, const Batch &all);

} // namespace gyre::experiment
