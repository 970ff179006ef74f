/// Few rows with keys along the lanes.
///
/// Vectors hold neighbouring features in both products, as keys and values are stored, and neighbouring keys between them: a
/// score is the sum across the lanes of a vector of products, and key_lanes of these vectors are transposed at once. A
/// row's softmax, its bias and its mask are then along the keys, as they lie in memory, so that one row is no less work a row than
/// several.
#pragma once
#include "attention/engines/folded/feature_vectors.h"

namespace gyre::attention {

/// folded_scores are (f, j, r, t, b).
struct KeyLaneStages : FoldedStages {
    std::vector<Halide::Func> lane_pairs; // (bit, f, j, r, t, b)
    std::vector<Halide::Func> lane_sums;  // (f, j, r, t, b)
    Halide::Func lane_max, lane_sum;      // (l, r, t, b)   of every `lanes`-th key of a block
};

class KeyLanes : public FeatureVectors {
public:
    KeyLanes(const Sizes &sizes, std::shared_ptr<const Provider> provider, const Knobs &knobs)
        : FeatureVectors(std::move(provider), knobs) {
        s.sizes = sizes;
    }
    KeyLaneStages &stages() override { return s; }
    KeySteps steps() const override { return {1, k.lanes, k.lanes}; }
    void define_queries(const Inputs &in) override;
    void define_scores(const Inputs &in) override;
    void define_maximum(const Visible &visible) override;
    void schedule() override;
    int least_head_dim() const override { return s.sizes.padded ? k.lanes : 0; }

protected:
    void define_sum(const Visible &visible) override;
    int guard_vector() override { return k.lanes; }

private:
    KeyLaneStages s;
    Halide::Expr pages; // in which keys are

    void check() const;
    Halide::Func sum_across_lanes();
};

} // namespace gyre::attention
