#include "backward_general.h"

#include "../math/transcendental.h"
#include "backward_scores.h"

#include <limits>

namespace gyre::backward {
using namespace Halide;
namespace {

// The limits are attention's: a bias of -inf masks, and others are at least the least one.
constexpr float masked_bias = std::numeric_limits<float>::lowest(), least_bias = -3e38f;

} // namespace

void define_general_parts(Stages &s, const Inputs &in) {
    const Var &j = s.j, &i = s.i, &a = s.a;
    // Zeros past the end: what is formed of these rows and keys is multiplied by 0, or masked.
    RDom given(0, unsafe_promise_clamped(in.keys, 0, s.sizes.keys), 0, unsafe_promise_clamped(in.rows, 0, s.sizes.rows),
               "given");
    given.where(in.has_bias);
    s.bias_key = given.x;
    s.bias_row = given.y;
    s.biases = Func("biases");
    s.biases(j, i) = 0.0f;
    const Expr bias = in.bias(given.x, given.y) * log2_e;
    s.biases(given.x, given.y) =
        select(in.bias_masks(given.x, given.y), masked_bias, strict_float(bias < least_bias), least_bias, bias);

    s.draws = Func("draws");
    s.keep = Func("keep");
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
    const Expr bent = tanh_accurate(of.product * ln_2 / in.softcap);
    const Expr score = select(is_capped, in.softcap * log2_e * bent, of.product);
    const Expr slope = select(is_capped, 1.0f - bent * bent, 1.0f) * in.scale;
    const Expr masked = reinterpret<uint32_t>(bias) == reinterpret<uint32_t>(Expr(masked_bias));
    const auto unless_masked = [&](const Expr &x) { return select(masked, 0.0f, x); };
    const Expr p = exp2_nonpositive(score + added - of.lse);
    const Expr keep = select(in.dropout.threshold != 0, s.keep(of.key, of.row), in.dropout.keep_scale);
    const Expr score_grad = p * (keep * of.prob_grad - of.delta);
    return {unless_masked(keep * p), unless_masked(score_grad * slope), unless_masked(score_grad)};
}

void define_bias_grad(Stages &s, const Inputs &in, const Func &bias_grad,
                      const std::function<Expr(const Expr &, const Expr &)> &score_grad) {
    const Var &j = s.j, &i = s.i;
    RDom sums(0, in.key_sums, 0, in.row_sums, "sums");
    s.key_sum = sums.x;
    s.row_sum = sums.y;
    s.bias_grad = bias_grad;
    s.bias_grad(j, i) = undef<float>();
    s.bias_grad(j, i) += score_grad(j + sums.x, i + sums.y);
}

} // namespace gyre::backward
