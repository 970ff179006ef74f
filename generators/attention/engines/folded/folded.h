/// Fewer rows than a vector has lanes, on vectors of f32: beside each row of the queries stand its next `fold` features, and a key's
/// are repeated along the vector. The weighted values have their features along the lanes, and are transposed once a block.
/// Either way keys and values are taken a vector at a time, as they are stored.
#pragma once
#include "stages.h"

namespace gyre::attention {

class Folded : public RowVectors {
public:
    struct Facts {
        bool asks_ahead; // the machine gains by asking for the lines of keys and values a block ahead
        bool across;     // scores are sums across lanes: keys are loaded as vectors, and widened in registers
        bool one_page;   // the kernel gains by tables of offsets that are specialised for one page
    };
    Folded(const Sizes &sizes, std::shared_ptr<const Provider> provider, const Knobs &knobs, const Facts &facts)
        : RowVectors(std::move(provider), knobs), facts(facts) {
        s.sizes = sizes;
    }
    FoldedStages &stages() override { return s; }
    OperandForm operand_form() const override {
        OperandForm form;
        form.one_page_apart = facts.one_page && provider->reads_in_place();
        return form;
    }
    KeySteps steps() const override { return steps_of_row_tile(k.key_unroll, keys_of_maximum()); }
    Halide::Expr query_factor(const Inputs &in) const override {
        return facts.across ? in.scale : RowVectors::query_factor(in);
    }
    void define_queries(const Inputs &in) override {
        if (!facts.across) define_scaled_lanes(s, in.scale);
    }
    void define_scores(const Inputs &in) override;
    int keys_of_maximum() const override { return joins_keys() ? weighed_keys : 1; }
    void lower(const Lowering &lowering) const override;
    bool pads_queries() const override { return !in_whole_vectors(); }
    int least_head_dim() const override { return in_whole_vectors() ? k.lanes : 0; }

protected:
    int weight_step() const override { return keys_of_maximum(); }
    int keys_in_vector() const override { return joins_keys() ? k.lanes / s.sizes.row_tile : 1; }
    void define_sum(const Visible &visible) override;
    void define_product_of_values(const Inputs &in, const Visible &visible) override;
    void check() const override;
    void schedule_queries() override;
    void schedule_products(const Levels &at) override;

private:
    static constexpr int weighed_keys = 8; // whose maximum and sum are formed together
    /// Vectors of scores hold those of several keys for all rows.
    bool joins_keys() const {
        return facts.across || (k.fold > 1 && s.sizes.row_tile * k.fold == k.lanes && k.key_unroll % weighed_keys == 0);
    }
    /// Rows of any head size are read in vectors, of which the last ends with the row.
    bool in_whole_vectors() const { return facts.across && s.sizes.padded; }
    const Facts facts;
    FoldedStages s;
    Halide::Expr k_features, v_features; // of the call

    void schedule_scores(const Levels &at);
    void define_scores_across_lanes(const Inputs &in);
    void schedule_scores_across_lanes(const Levels &at);
    /// Turns of the loop over features that are one: of so few multiply-adds that asking takes as long.
    int joined_turns() const {
        return asks_for_blocks() && !facts.across && k.fold > 1 && k.key_vector == 1 && !s.sizes.padded ? 2 : 1;
    }
    bool asks_for_blocks() const { return facts.asks_ahead && provider->reads_in_place(); }
};

} // namespace gyre::attention
