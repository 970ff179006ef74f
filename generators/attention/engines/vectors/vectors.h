/// Many rows on vectors of f32: a key's or a value's element is a scalar that multiplies a vector of queries or weights, so that
/// maximum, sum and rescaling are plain vector operations and neither keys nor values are ever transposed.
#pragma once
#include "passes/order/loop_limits.h"
#include "row_vectors.h"

namespace gyre::attention {

struct LaneStages : SoftmaxStages {
    Transpose q_lanes;     // (r, d, t)  queries along the lanes
    Halide::Func q_scaled; // (r, d, t)
};

class Vectors : public RowVectors {
public:
    struct Facts {
        bool to_last;    // of a last row tile that is short no more is computed than vectors with a row
        bool asks_ahead; // lines of keys and values are asked for before they are read
        bool of_avx2;    // where less of what surrounds the products was measured
    };
    Vectors(const Sizes &sizes, std::shared_ptr<const Provider> provider, const Knobs &knobs, const Facts &facts)
        : RowVectors(std::move(provider), knobs, facts.to_last), facts(facts) {
        s.sizes = sizes;
    }
    LaneStages &stages() override { return s; }
    KeySteps steps() const override { return steps_of_row_tile(k.key_unroll); }
    void define_queries(const Inputs &in) override;
    void define_scores(const Inputs &in) override;
    void define_maximum(const Visible &visible) override;
    void lower(const Lowering &lowering) const override;
    int least_head_dim() const override { return reads_padded_in_place() ? k.lanes : 0; }

protected:
    int weight_step() const override { return 1; }
    bool sums_once() const override { return facts.of_avx2; }
    void define_product_of_values(const Inputs &in, const Visible &visible) override;
    void check() const override;
    void schedule_queries() override;
    void schedule_products(const Levels &at) override;
    void end_queries_early(const Lowering &lowering, const std::string &tile, const VectorsOf &of) const override {
        end_loop_early(lowering.generator, s.q_scaled, "ro", tile, of);
    }

private:
    const Facts facts;
    LaneStages s;

    void ask_for_keys_and_values(const Lowering &lowering) const;
    bool reads_padded_in_place() const { return s.sizes.padded && provider->reads_in_place(); }
};

/// Defines queries along the lanes, times the scale.
void define_scaled_lanes(LaneStages &s, const Halide::Expr &scale);

/// Schedules a register tile of weighted values, vectors of rows times features, and its guarded updates.
void schedule_values_of_rows(LaneStages &s, const Halide::LoopLevel &at, RowLoops &rows);

} // namespace gyre::attention
