#include "evaluation.h"

#include "elementwise.h"

#include <algorithm>
#include <set>

namespace gyre::experiment {
namespace {

constexpr std::int64_t sequences_at_once = 64;

} // namespace

Batch part_of(const Batch &all, std::int64_t first, std::int64_t sequences) {
    const auto cut = [&](const std::vector<std::int32_t> &x) {
        return std::vector<std::int32_t>(x.begin() + first * all.length, x.begin() + (first + sequences) * all.length);
    };
    return {sequences, all.length, cut(all.tokens), cut(all.targets), cut(all.samples)};
}

std::int64_t target_count(const Batch &batch) {
    return std::count_if(batch.targets.begin(), batch.targets.end(), [](std::int32_t t) { return t >= 0; });
}

double summed_loss(const Batch &batch, std::int64_t outputs, float factor, std::vector<float> &logits) {
    double sum = 0;
    for (std::size_t r = 0; r < batch.targets.size(); r++) {
        float *const row = &logits[r * static_cast<std::size_t>(outputs)];
        if (batch.targets[r] >= 0)
            sum += cross_entropy(outputs, batch.targets[r], factor, row);
        else
            std::fill_n(row, outputs, 0.0f);
    }
    return sum;
}

Score evaluate(gyre_context *context, Transformer &model, std::int64_t outputs, const Batch &all) {
    double loss = 0;
    std::set<std::int32_t> asked, wrong; // questions
    for (std::int64_t first = 0; first < all.sequences; first += sequences_at_once) {
        const Batch batch = part_of(all, first, std::min(sequences_at_once, all.sequences - first));
        std::vector<float> &logits = model.forward(context, batch.tokens, batch.sequences, batch.length);
        for (std::size_t r = 0; r < batch.targets.size(); r++) {
            if (batch.targets[r] < 0) continue;
            const float *const row = &logits[r * static_cast<std::size_t>(outputs)];
            asked.insert(batch.samples[r]);
            if (std::max_element(row, row + outputs) != row + batch.targets[r]) wrong.insert(batch.samples[r]);
        }
        loss += summed_loss(batch, outputs, 1, logits);
    }
    Score score;
    score.questions = static_cast<std::int64_t>(asked.size());
    if (asked.empty()) return score;
    score.loss = loss / static_cast<double>(std::max<std::int64_t>(1, target_count(all)));
    score.exact_match = 1 - static_cast<double>(wrong.size()) / static_cast<double>(asked.size());
    return score;
}

} // namespace gyre::experiment
