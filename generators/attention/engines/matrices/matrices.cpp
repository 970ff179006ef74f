#include "matrices.h"

#include "attention/recurrence/scores.h"
#include "math/bf16_rounding.h"
#include "math/storage.h"
#include "math/transcendental.h"
#include "passes/instructions/bf16_matrices.h"
#include "passes/instructions/bf16_roundings.h"
#include "passes/order/loop_limits.h"

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
    if (s.seen_sums.defined()) // Halide forms them in any case
        guard_loop(lowering.generator, s.weighted_sums, s.seen_g.name(), s.guarded);
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
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d, &p = s.p, &g = s.g, &lane = s.lane, &f = s.f, &y = s.y, &c = s.c;
    s.weight_matrices = Func("weight_matrices");
    s.weight_matrices(f, y, c, p, t, b) = bf16_rounding(s.weights(p * matrix_rows + y, c * matrix_depth + f, t, b));
    const RDom keys = matrices_in_sight(visible, "keys");
    s.value_place = keys.x;
    s.value_j = keys.y;
    s.weighted_sums = Func("weighted_sums");
    s.weighted_sums(lane, p, g, t, b) += number(s.v_matrices(keys.x, lane / matrix_rows, keys.y, g, b)) *
                                         number(s.weight_matrices(keys.x, lane % matrix_rows, keys.y, p, t, b));
    if (guards_blocks()) define_seen_sums(visible);
    s.weighted(r, d, t, b) = sum_of(s.weighted_sums, r, d, t, b);
}

/// Forms the sums of guarded blocks again. Two rows share a matrix of values and may see different keys of it: each row has a product of
/// its own, with 0 in place of the values that it does not see. Its elements are the sums of the usual product, in the same order.
void Matrices::define_seen_sums(const Visible &visible) {
    const Var &t = s.t, &b = s.b, &p = s.p, &g = s.g, &lane = s.lane, &f = s.f, &y = s.y, &c = s.c, &own = s.own;
    s.seen_values = Func("seen_values");
    s.seen_values(f, y, own, c, p, g, t, b) =
        select(is_masked(s.masked(p * matrix_rows + own, c * matrix_depth + f, t, b)), cast<uint16_t>(0),
               s.v_matrices(f, y, c, g, b));
    const RDom keys = matrices_in_sight(visible, "seen_keys");
    s.seen_place = keys.x;
    s.seen_j = keys.y;
    s.seen_sums = Func("seen_sums");
    s.seen_sums(lane, own, p, g, t, b) += number(s.seen_values(keys.x, lane / matrix_rows, own, keys.y, p, g, t, b)) *
                                          number(s.weight_matrices(keys.x, lane % matrix_rows, keys.y, p, t, b));
    RDom again(0, 1, "again");
    again.where(s.guarded(b) != 0);
    s.weighted_sums(lane, p, g, t, b) = s.seen_sums(lane, lane % matrix_rows, p, g, t, b + again);
    s.guarded_turn = again;
}

/// The keys of matrices in which some row of the tile sees a key.
RDom Matrices::matrices_in_sight(const Visible &visible, const std::string &name) const {
    const int block = s.sizes.key_block;
    RDom keys(0, matrix_depth, 0, block / matrix_depth, name);
    keys.where(s.b * block + keys.y * matrix_depth <= visible.tile_last);
    return keys;
}

} // namespace gyre::attention
