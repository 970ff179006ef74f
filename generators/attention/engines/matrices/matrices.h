/// Both products on matrices of bf16 in vector registers: of two rows of keys and two of queries, or two features of values and
/// two rows of weights, with 4 numbers of the dimension that is summed over. Queries are not scaled, so that what is not rotated
/// is not rounded; the scale is applied to the scores in f32.
#pragma once
#include "attention/engines/vectors/row_vectors.h"

namespace gyre::attention {

/// k_rows and v_rows hold bf16; f: place in a row of a matrix, y: its row, c: matrices along the dimension that is summed over, p and g:
/// along the others.
struct MatrixStages : SoftmaxStages {
    Halide::Var f{"f"}, y{"y"}, c{"c"}, p{"p"}, g{"g"}, lane{"lane"};
    Halide::Func q_matrices, k_matrices; // (f, y, c, p, t) (f, y, c, p, b)    two rows of queries or keys, 4 features
    Halide::Func v_matrices;             // (f, y, c, p, b)      two features of values, 4 keys
    Halide::Func weight_matrices;        // (f, y, c, p, t, b)   two rows of weights, 4 keys
    Halide::Func score_sums;    // (lane, p, g, t, b)   of a pair of queries and one of keys, before they are scaled
    Halide::Func weighted_sums; // (lane, p, g, t, b)   of a pair of queries and one of features
    // Guarded blocks have these. `own` is the row of a pair for which a product is formed.
    Halide::Var own{"own"}, seen_g{"seen_g"};
    Halide::Func seen_values; // (f, y, own, c, p, g, t, b)   v_matrices, with 0 for keys that the row does not see
    Halide::Func seen_sums;   // (lane, own, p, g, t, b)      as weighted_sums; only those of the row count
    Halide::RVar seen_place, seen_j;
    Halide::RVar feature_place, value_place; // within a row of a matrix; those of matrices are `feature` and value_j
};

class Matrices : public RowVectors {
public:
    Matrices(const Sizes &sizes, std::shared_ptr<const Provider> provider, const Knobs &knobs)
        : RowVectors(std::move(provider), knobs) {
        s.sizes = sizes;
    }
    MatrixStages &stages() override { return s; }
    OperandForm operand_form() const override { return {true}; }
    bool counts_features() const override { return false; } // matrices hold all of them
    KeySteps steps() const override;
    Bf16 rounding() const override { return Bf16::by_instruction; }
    void define_queries(const Inputs &in) override;
    void define_operands(const Inputs &in) override;
    void define_scores(const Inputs &in) override;
    void lower(const Lowering &lowering) const override;
    Precision precision() const override { return {"bf16", "bf16", 1}; }

protected:
    Halide::Expr power(const Halide::Expr &difference, bool far) const override;
    std::vector<Packed> packed() const override { return {}; }
    void define_product_of_values(const Inputs &in, const Visible &visible) override;
    void check() const override;
    void schedule_queries() override;
    void schedule_products(const Levels &at) override;

private:
    MatrixStages s;

    void define_seen_sums(const Visible &visible);
    void schedule_seen_sums();
    Halide::RDom matrices_in_sight(const Visible &visible, const std::string &name) const;
};

} // namespace gyre::attention
