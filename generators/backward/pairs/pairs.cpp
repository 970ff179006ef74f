#include "backward/pairs/pairs.h"

#include "backward/backward_general.h"
#include "backward/pairs/parts.h"
#include "passes/instructions/bf16_dot.h"

namespace gyre::backward {
using namespace Halide;
namespace {

void define_product(Func &product, const char *name, const Stages &s, const Func &panels, const Func &rows,
                    const RDom &n) {
    const Var &j = s.j, &y = s.y, &t = s.t;
    const int lanes = s.sizes.key_lanes;
    product = Func(name);
    product(j, y, t) = 0.0f;
    product(j, y, t) = bf16_dot(product(j, y, t), panels(j % lanes, n, j / lanes), rows(n, y, t));
}

} // namespace

Expr bits_of(const Expr &first_counts, const Expr &second_counts) {
    return select(first_counts, Expr(0xffffu), Expr(0u)) | select(second_counts, Expr(0xffff0000u), Expr(0u));
}

PairStages algorithm_of_pairs(const Inputs &in, const Sizes &sizes, int lanes, const Func &dq, const Func &dk,
                              const Func &dv, const Func &bias_grad) {
    PairStages s;
    s.sizes = sizes;
    const KeyPairs keys{lanes, sizes.key_lanes};
    define_operands(s, in, keys);
    RDom score_features(0, (in.k_features + 1) / 2, "score_features");
    RDom prob_features(0, (in.v_features + 1) / 2, "prob_features");
    s.score_feature = score_features;
    s.prob_feature = prob_features;
    define_product(s.scores, "scores", s, s.k_features, s.q_features, score_features);
    define_product(s.prob_grads, "prob_grads", s, s.v_features, s.out_grad_features, prob_features);
    define_weight_pairs(s, in, keys);
    define_sums(s, in, keys);
    add_sums(s, dq, dk, dv);
    if (sizes.general)
        define_bias_grad(s, in, bias_grad, [&](const Expr &key, const Expr &row) -> Expr {
            const FuncRef of = s.weight_pairs(key, row % sizes.tile / 2, row / sizes.tile);
            return select(row % 2 == 0, of[3], of[4]);
        });
    return s;
}

} // namespace gyre::backward
