/// What engines have alike whose vectors hold features in both products and in the state, as keys and values are stored.
#pragma once
#include "attention/engines/knobs.h"
#include "stages.h"

namespace gyre::attention {

class FeatureVectors : public SoftmaxEngine {
public:
    FeatureVectors(std::shared_ptr<const Provider> provider, const Knobs &knobs)
        : SoftmaxEngine(std::move(provider)), k(knobs) {}
    FoldedStages &stages() override = 0;
    const StateLayout &layout() const override { return features_along_lanes(); }
    Halide::Expr query_factor(const Inputs &in) const override { return in.scale; }
    void define_queries(const Inputs &) override {}

protected:
    int weight_step() const override { return k.lanes; }

    const Knobs k;
};

} // namespace gyre::attention
