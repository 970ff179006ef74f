/// Few rows of bf16 whose keys and values are read where they are: beside each row of the queries stand its next `fold` pairs of neighbouring
/// features, and a key's pairs are repeated along the vector. Values of two neighbouring keys become pairs in registers, with features along the
/// lanes, and a row's weights of these keys are the scalar that multiplies them. Both products are dot products of pairs (passes/instructions/bf16_dot.h).
#pragma once
#include "attention/engines/folded/stages.h"
#include "attention/engines/pairs/products.h"
#include "passes/instructions/bf16_dot.h"

namespace gyre::attention {

/// q_scaled (r, c, t) holds pairs of a row's neighbouring features, and folded_scores sums of products with them. weighted_rows has features in the
/// order of their places: in each `lanes` of places those that are even, then in as many those that are odd.
struct FoldedPairStages : FoldedStages, PairProducts {
    static constexpr int weighed_pairs = 4; // whose weights are formed and summed together
    static constexpr int weighed_keys = 2 * weighed_pairs;

    Halide::Func value_pairs;  // (d, c, b)         d: a place
    Halide::RVar paired_group; // of the update of weight_pairs
};

class FoldedPairs : public RowVectors {
public:
    FoldedPairs(const Sizes &sizes, std::shared_ptr<const Provider> provider, const Knobs &knobs)
        : RowVectors(std::move(provider), knobs) {
        s.sizes = sizes;
    }
    FoldedPairStages &stages() override { return s; }
    OperandForm operand_form() const override {
        OperandForm form;
        form.as_bits = true;
        form.one_page_apart = true;
        return form;
    }
    KeySteps steps() const override { return steps_of_row_tile(k.key_unroll, FoldedPairStages::weighed_keys); }
    Bf16 rounding() const override { return Bf16::by_instruction; }
    void define_queries(const Inputs &) override { define_query_pairs(s, s.c); }
    void define_operands(const Inputs &in) override;
    void define_scores(const Inputs &in) override;
    int keys_of_maximum() const override { return FoldedPairStages::weighed_keys; }
    void lower(const Lowering &lowering) const override;
    Precision precision() const override { return {"bf16", "", 1}; }

protected:
    void define_sum(const Visible &) override {} // with the product, from weight_pairs
    void define_product_of_values(const Inputs &in, const Visible &visible) override;
    void check() const override;
    int weight_step() const override { return stores_weights() ? FoldedPairStages::weighed_keys : 0; }
    /// Weights of several keys in a vector are stored; others are formed with their pairs.
    bool stores_weights() const override { return keys_in_vector() > 1; }
    int keys_in_vector() const override {
        return s.sizes.row_tile == s.sizes.lanes ? bf16_dot_lanes / s.sizes.lanes : 1;
    }
    void schedule_queries() override;
    void schedule_products(const Levels &at) override;

private:
    FoldedPairStages s;
};

} // namespace gyre::attention
