/// The training experiment's model: its gradients beside central differences of its loss.
#include "support/doctest.h"

#include "evaluation.h"
#include "linear.h"
#include "random.h"

#include <cmath>
#include <vector>

using namespace gyre::experiment;

namespace {

constexpr std::int64_t sequences = 3, length = 19;
constexpr gyre::experiment::TransformerSizes sizes{11, 7, 32, 2, 2, 48};

Batch make_batch() {
    Random random({1});
    Batch batch{sequences, length, {}, {}, {}};
    for (std::int64_t i = 0; i < sequences * length; i++) {
        batch.tokens.push_back(random.below(sizes.vocabulary));
        batch.targets.push_back(random.below(3) ? random.below(sizes.outputs) : -1);
        batch.samples.push_back(0);
    }
    return batch;
}

double loss(gyre_context *context, Transformer &model, const Batch &batch) {
    return summed_loss(batch, sizes.outputs, 1, model.forward(context, batch.tokens, sequences, length));
}

} // namespace

TEST_CASE("gradients are those of central differences, for every encoding and parameter") {
    gyre::modules::set_blas_threads(1);
    const gyre::Context context;
    const Batch batch = make_batch();
    for (const std::string &encoding : encodings()) {
        Transformer model(sizes, encoding, 5);
        Random random({6});
        for (const gyre::Parameter &p : model.parameters()) // biases and the head count, too
            for (std::size_t i = 0; i < p.size(); i++) p.values[i] += static_cast<float>(0.1 * random.normal());
        model.backward(context, [&] {
            std::vector<float> &logits = model.forward(context, batch.tokens, sequences, length);
            summed_loss(batch, sizes.outputs, 1, logits);
            return logits;
        }());

        for (const gyre::Parameter &p : model.parameters()) {
            CAPTURE(encoding);
            CAPTURE(p.name);
            const std::vector<float> at(p.values, p.values + p.size());
            double norm = 0;
            for (std::size_t i = 0; i < p.size(); i++) norm += static_cast<double>(p.gradients[i]) * p.gradients[i];
            norm = std::sqrt(norm);
            REQUIRE(norm > 0);
            // Along the gradient, where the slope is its norm, and along random directions.
            for (int trial = 0; trial < 3; trial++) {
                std::vector<double> direction(p.size());
                double size = 0, slope = 0;
                for (std::size_t i = 0; i < p.size(); i++) {
                    direction[i] = trial == 0 ? p.gradients[i] : random.normal();
                    size += direction[i] * direction[i];
                }
                size = std::sqrt(size);
                for (std::size_t i = 0; i < p.size(); i++) slope += direction[i] / size * p.gradients[i];
                const auto difference = [&](double step) {
                    double change = 0;
                    for (int sign : {1, -1}) {
                        for (std::size_t i = 0; i < p.size(); i++)
                            p.values[i] = at[i] + static_cast<float>(sign * step * direction[i] / size);
                        change += sign * loss(context, model, batch);
                    }
                    return change / (2 * step);
                };
                const double step = 0.02; // Richardson: the error is of the step's fourth power
                const double measured = (4 * difference(step) - difference(2 * step)) / 3;
                std::copy(at.begin(), at.end(), p.values);
                CHECK_MESSAGE(std::fabs(measured - slope) <= 2e-3 * norm, "trial ", trial, ": slope ", slope,
                              ", central difference ", measured, ", norm ", norm);
            }
        }
    }
}
