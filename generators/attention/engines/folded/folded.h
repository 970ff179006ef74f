/// Fewer rows than a vector has lanes, on vectors of f32: beside each row of the queries stand its next `fold` features, and a key's
/// are repeated along the vector. The weighted values have their features along the lanes, and are transposed once a block.
/// Either way keys and values are taken a vector at a time, as they are stored.
#pragma once
#include "stages.h"

namespace gyre::attention {

class Folded : public RowVectors {
public:
    /// `asks_ahead`: the machine gains by asking for the lines of keys and values a block ahead.
    Folded(const Sizes &sizes, std::shared_ptr<const Provider> provider, const Knobs &knobs, bool asks_ahead)
        : RowVectors(std::move(provider), knobs), asks_ahead(asks_ahead) {
        s.sizes = sizes;
    }
    FoldedStages &stages() override { return s; }
    KeySteps steps() const override { return steps_of_row_tile(k.key_unroll); }
    void define_queries(const Inputs &in) override { define_scaled_lanes(s, in.scale); }
    void define_scores(const Inputs &in) override;
    void lower(const Lowering &lowering) const override;

protected:
    int weight_step() const override { return 1; }
    void define_product_of_values(const Inputs &in, const Visible &visible) override;
    void check() const override;
    void schedule_queries() override {
        schedule_query_lanes(s, s.q_scaled, s.q_lanes, s.sizes.lanes, 1, s.sizes.lanes);
    }
    void schedule_products(const Levels &at) override;

private:
    const bool asks_ahead;
    FoldedStages s;
};

} // namespace gyre::attention
