#include "backward_general.h"

#include "../common/transcendental.h"

namespace gyre::backward {
using namespace Halide;
namespace {

constexpr float masked = -1e38f; // as attention has it: its key has no weight

} // namespace

void define_general_parts(Stages &s, const Inputs &in) {
    const Var &j = s.j, &i = s.i, &a = s.a;
    // Zeros past the end: what is formed of these rows and keys is multiplied by 0, or masked.
    RDom given(0, unsafe_promise_clamped(in.keys, 0, s.sizes.keys), 0, unsafe_promise_clamped(in.rows, 0, s.sizes.rows),
               "given");
    given.where(in.has_bias);
    s.bias_key = given.x, s.bias_row = given.y;
    s.biases = Func("biases");
    s.biases(j, i) = 0.0f;
    // strict_float: a bias may be -inf, which the compiler is otherwise told not to expect.
    const Expr bias = in.bias(given.x, given.y) * log2_e;
    s.biases(given.x, given.y) = select(strict_float(bias < masked), masked, bias);

    s.draws = Func("draws"), s.keep = Func("keep");
    const auto words = dropout_words(in.dropout, i, a);
    s.draws(a, i) = Tuple(words[0], words[1], words[2], words[3]);
    const FuncRef drawn = s.draws(j / 4, i);
    const Expr word = mux(j % 4, {drawn[0], drawn[1], drawn[2], drawn[3]});
    s.keep(j, i) = select(word < in.dropout.threshold, 0.0f, in.dropout.keep_scale);
}

Tuple general_weights(const Stages &s, const Inputs &in, const Pair &of) {
    const Expr bias = select(in.has_bias, s.biases(of.key, of.row), 0.0f);
    const Expr added = cast<float>(of.key - of.row + in.alibi_origin) * in.alibi + bias;
    const Expr is_capped = in.softcap > 0.0f;
    const Expr bent = tanh_accurate(of.product * (in.scale / in.softcap));
    const Expr score = select(is_capped, bent * (in.softcap * log2_e), of.product * (in.scale * log2_e));
    const Expr slope = select(is_capped, 1.0f - bent * bent, 1.0f) * in.scale;
    const Expr p = select(bias > masked * 0.5f, exp2_nonpositive(score + (added - of.lse)), 0.0f);
    const Expr keep = select(in.dropout.threshold != 0, s.keep(of.key, of.row), in.dropout.keep_scale);
    const Expr score_grad = p * (keep * of.prob_grad - of.delta);
    return {keep * p, score_grad * slope, score_grad};
}

void define_bias_grad(Stages &s, const Inputs &in, const Func &bias_grad) {
    const Var &j = s.j, &i = s.i;
    RDom sums(0, in.key_sums, 0, in.row_sums, "sums");
    s.key_sum = sums.x, s.row_sum = sums.y;
    s.bias_grad = bias_grad;
    s.bias_grad(j, i) = undef<float>();
    const Expr row = i + sums.y;
    s.bias_grad(j, i) += s.weights(j + sums.x, row % s.sizes.tile, row / s.sizes.tile)[2];
}

} // namespace gyre::backward
