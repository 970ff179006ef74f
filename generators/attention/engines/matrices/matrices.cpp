#include "matrices.h"

#include "math/bf16_rounding.h"
#include "math/storage.h"
#include "math/transcendental.h"
#include "passes/bf16_matrices.h"
#include "passes/bf16_roundings.h"

namespace gyre::attention {
using namespace Halide;
namespace {

Expr number(const Expr &bits) { return widen(reinterpret(BFloat(16), bits)); }

/// The sum of query r and number n of the other dimension, as pairs of rows hold it.
Expr sum_of(const Func &sums, const Expr &r, const Expr &n, const Var &t, const Var &b) {
    return sums(r % matrix_rows + n % matrix_rows * matrix_rows, r / matrix_rows, n / matrix_rows, t, b);
}

} // namespace

KeySteps Matrices::steps() const { return {matrix_depth}; }

Expr Matrices::power(const Expr &difference, bool /*far*/) const { return exp2_nonpositive_bf16(difference); }

void Matrices::lower(const Lowering &lowering) const {
    map_bf16_matrices(lowering.generator, {s.operands.v_rows, s.weights});
    map_bf16_roundings(lowering.generator);
    RowVectors::lower(lowering);
}

void Matrices::define_queries(const Inputs &) {
    const Var &f = s.f, &y = s.y, &c = s.c, &p = s.p, &t = s.t;
    s.q_matrices = Func("q_matrices");
    s.q_matrices(f, y, c, p, t) = bf16_rounding(s.q_rows(c * matrix_depth + f, p * matrix_rows + y, t));
}

void Matrices::define_operands(const Inputs &) {
    const Var &f = s.f, &y = s.y, &c = s.c, &p = s.p, &b = s.b;
    s.k_matrices = Func("k_matrices");
    s.k_matrices(f, y, c, p, b) = s.operands.k_rows(c * matrix_depth + f, p * matrix_rows + y, b);
    s.v_matrices = Func("v_matrices");
    s.v_matrices(f, y, c, p, b) = s.operands.v_rows(p * matrix_rows + y, c * matrix_depth + f, b);
}

void Matrices::define_scores(const Inputs &in) {
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &p = s.p, &g = s.g, &lane = s.lane;
    RDom features(0, matrix_depth, 0, s.sizes.head_dim / matrix_depth, "features");
    s.feature_place = features.x;
    s.feature = features.y;
    s.score_sums = Func("score_sums");
    s.score_sums(lane, p, g, t, b) += number(s.k_matrices(features.x, lane / matrix_rows, features.y, g, b)) *
                                      number(s.q_matrices(features.x, lane % matrix_rows, features.y, p, t));
    s.scores = Func("scores");
    s.scores(r, j, t, b) = sum_of(s.score_sums, r, j, t, b) * in.scale;
}

void Matrices::define_product_of_values(const Inputs &, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d, &p = s.p, &g = s.g, &lane = s.lane, &f = s.f, &y = s.y, &c = s.c;
    s.weight_matrices = Func("weight_matrices");
    s.weight_matrices(f, y, c, p, t, b) = bf16_rounding(s.weights(p * matrix_rows + y, c * matrix_depth + f, t, b));
    RDom keys(0, matrix_depth, 0, z.key_block / matrix_depth, "keys");
    keys.where(b * z.key_block + keys.y * matrix_depth <= visible.tile_last);
    s.value_place = keys.x;
    s.value_j = keys.y;
    s.weighted_sums = Func("weighted_sums");
    s.weighted_sums(lane, p, g, t, b) += number(s.v_matrices(keys.x, lane / matrix_rows, keys.y, g, b)) *
                                         number(s.weight_matrices(keys.x, lane % matrix_rows, keys.y, p, t, b));
    // A matrix has values of keys that one of its rows sees and the other does not: guarded blocks are summed number by number.
    guard(s.weighted_sums, visible, {p * matrix_rows + lane % matrix_rows, g * matrix_rows + lane / matrix_rows});
    s.weighted(r, d, t, b) = sum_of(s.weighted_sums, r, d, t, b);
}

} // namespace gyre::attention
