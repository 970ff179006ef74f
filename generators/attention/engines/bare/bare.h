/// Little code and a small stack, for machines without an operating system: tasks of one row tile of a few rows.
#pragma once
#include "attention/engines/folded/feature_vectors.h"

namespace gyre::attention {

struct BareStages : FoldedStages {
    Halide::Func q_peak; // (r, t)   with integers: bits of the largest magnitude of a row
    Halide::RVar edge;   // of the update of weighted_sums; undefined: it has none
    Halide::RVar lane;   // of scores, where sums of a vector's neighbours are one instruction
    Halide::Func
        lane_sums; // (lane, r, t, b)  the sum of weights in each lane of vectors of keys, where there are vectors
};

class Bare : public FeatureVectors {
public:
    struct Facts {
        bool integer_scores;    // queries and keys multiply as integers: integer_products.cpp
        bool nan_without_sign;  // exp2_nonpositive_by_bits() serves
        bool maximum_keeps_nan; // exp2_nonpositive_by_maximum() serves
        bool adds_neighbours;   // an instruction adds neighbours of two vectors
    };
    Bare(const Sizes &sizes, std::shared_ptr<const Provider> provider, const Knobs &knobs, const Facts &facts)
        : FeatureVectors(std::move(provider), knobs), facts(facts) {
        s.sizes = sizes;
    }
    /// Sizes::feature_chunk for it: of `lanes` neighbours each, as many as divide a head, up to 16. More are fewer turns of the loop
    /// that folds blocks, and more code: up to 8 where keys and values are converted, which takes code as well.
    static int feature_chunk(int v_head_dim, int lanes, bool converted);

    BareStages &stages() override { return s; }
    const StateLayout &layout() const override;
    OperandForm operand_form() const override { return {false, facts.integer_scores, false, true}; }
    KeySteps steps() const override {
        KeySteps steps;
        steps.scored = k.key_unroll;
        steps.together = k.lanes; // the maximum and the sum are of whole vectors of keys
        steps.in_vector = k.lanes;
        return steps;
    }
    bool begins_with_block() const override { return true; }
    int rotation_lanes() const override { return k.lanes; }
    int rotation_turns() const override { return k.pair_unroll; }
    Halide::Expr query_factor(const Inputs &in) const override;
    void define_queries(const Inputs &in) override;
    void define_scores(const Inputs &in) override;
    void define_maximum(const Visible &visible) override;
    void define_sum(const Visible &visible) override;
    void schedule() override;
    void lower(const Lowering &lowering) const override;

protected:
    Halide::Expr power(const Halide::Expr &difference, bool far) const override;
    bool guards_blocks() const override { return false; }
    void define_product_of_values(const Inputs &in, const Visible &visible) override;
    Rescaling rescaling(const Inputs &in, const Halide::Expr &maximum, const Halide::Expr &block) const override;

private:
    const Facts facts;
    BareStages s;

    int tuples() const { return s.sizes.v_head_dim / s.sizes.feature_chunk; } // of the state, a row
    int row_of_state() const { return tuples() * (s.sizes.feature_chunk + 2); }
    void check() const;
    Halide::Expr weighted_value(const Visible &visible, const Halide::Expr &key);
    /// Adds the keys that some rows of a tile see, and not all, to s.weighted_sums.
    void add_edges(const Visible &visible);
    /// Keys of a block in vectors: (lane, vector), of those vectors in which some row sees a key.
    Halide::RDom vectors_of_keys(const Visible &visible, const std::string &name) const;
    bool sums_neighbours() const { return facts.adds_neighbours && k.fold > 1; }
    void schedule_scores();
    void define_integer_queries();
    void define_integer_scores(const Halide::Expr &scale);
};

} // namespace gyre::attention
