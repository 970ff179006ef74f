/// Many rows on vectors of f32: a key's or a value's element is a scalar that multiplies a vector of queries or weights, so that
/// maximum, sum and rescaling are plain vector operations and neither keys nor values are ever transposed.
#pragma once
#include "passes/loop_limits.h"
#include "row_vectors.h"

namespace gyre::attention {

struct LaneStages : SoftmaxStages {
    Transpose q_lanes;     // (r, d, t)  queries along the lanes
    Halide::Func q_scaled; // (r, d, t)
};

class Vectors : public RowVectors {
public:
    Vectors(const Sizes &sizes, std::shared_ptr<const Provider> provider, const Knobs &knobs, bool to_last)
        : RowVectors(std::move(provider), knobs, to_last) {
        s.sizes = sizes;
    }
    LaneStages &stages() override { return s; }
    KeySteps steps() const override { return steps_of_row_tile(k.key_unroll); }
    void define_queries(const Inputs &in) override;
    void define_scores(const Inputs &in) override;

protected:
    int weight_step() const override { return 1; }
    void define_product_of_values(const Inputs &in, const Visible &visible) override;
    void schedule_queries() override;
    void schedule_products(const Levels &at) override;
    void end_queries_early(const Lowering &lowering, const std::string &tile, const VectorsOf &of) const override {
        end_loop_early(lowering.generator, s.q_scaled, "ro", tile, of);
    }

private:
    LaneStages s;
};

/// Defines queries along the lanes, times the scale.
void define_scaled_lanes(LaneStages &s, const Halide::Expr &scale);

/// Schedules a register tile of weighted values, vectors of rows times features, and its guarded updates.
void schedule_values_of_rows(LaneStages &s, const Halide::LoopLevel &at, RowLoops &rows);

} // namespace gyre::attention
