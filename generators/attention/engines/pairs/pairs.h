/// Both products by dot products of bf16 pairs (passes/instructions/bf16_dot.h): a pair of neighbouring features of a key, or of one feature's
/// values of neighbouring keys, is a scalar that multiplies a vector of pairs of queries or weights. Queries are not scaled, so that
/// what is not rotated is not rounded; the scale is applied to the scores in f32.
#pragma once
#include "products.h"

namespace gyre::attention {

/// k_rows and v_rows hold bf16 and q_scaled (r, c, t) pairs of it.
struct PairStages : LaneStages, PairProducts {
    static constexpr int weighed_pairs = 2;
    static constexpr int weighed_keys = 2 * weighed_pairs;

    Halide::Func v_pairs;    // (d, c, b)
    Halide::Func score_sums; // (r, j, t, b)   before they are scaled
};

class Pairs : public RowVectors {
public:
    Pairs(const Sizes &sizes, std::shared_ptr<const Provider> provider, const Knobs &knobs, bool to_last)
        : RowVectors(std::move(provider), knobs, to_last) {
        s.sizes = sizes;
    }
    PairStages &stages() override { return s; }
    OperandForm operand_form() const override { return {true}; }
    KeySteps steps() const override;
    /// In padded kernels LLVM keeps one of the maxima on the stack: with a key at a time, each would wait for the one before.
    int keys_of_maximum() const override { return s.sizes.padded ? PairStages::weighed_keys : 1; }
    Bf16 rounding() const override { return Bf16::by_instruction; }
    void define_queries(const Inputs &) override { define_query_pairs(s, s.c); }
    void define_operands(const Inputs &in) override;
    void define_scores(const Inputs &in) override;
    void lower(const Lowering &lowering) const override;
    Precision precision() const override { return {"bf16", "", 1}; }

protected:
    void define_sum(const Visible &) override {} // with the product, from weight_pairs
    void define_product_of_values(const Inputs &in, const Visible &visible) override;
    void check() const override;
    bool stores_weights() const override { return s.dropout.kept.defined(); }
    std::vector<Packed> packed() const override {
        return {{s.k_pairs, s.j, 1}, {s.operands.v_rows, s.j, 1}, {s.v_pairs, s.c, 2}};
    }
    void schedule_queries() override;
    void schedule_products(const Levels &at) override;
    void end_queries_early(const Lowering &lowering, const std::string &tile, const VectorsOf &of) const override {
        end_loop_early(lowering.generator, s.q_scaled, "ro", tile, of);
    }

private:
    PairStages s;
};

} // namespace gyre::attention
