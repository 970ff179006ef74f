#include "scores.h"

#include "attention/recurrence/scores.h"
#include "math/storage.h"
#include "passes/cuda/primitives.h"
#include "passes/cuda/tanh.h"

namespace gyre::gradients {
using namespace Halide;
using attention::ln_2;
using attention::log2_e;
namespace {

/// {tanh x, 1 - tanh^2 x}
Tuple bent(const Expr &x) {
    const Tuple of_size = cuda::tanh_approx(max(x, -x));
    const Expr r = of_size[1];
    return {select(x < 0.0f, -of_size[0], of_size[0]), 4.0f * r * (1.0f - r)};
}

/// Natural, 0 without one. Of several types only the one that is given is read.
Expr bias_of(const Scoring &in, const Pair &of) {
    const auto within = [](const Expr &index, const Expr &extent) {
        return unsafe_promise_clamped(index, 0, extent - 1);
    };
    const std::vector<Expr> element{within(of.key, in.keys), within(of.query, in.queries), within(of.head, in.heads),
                                    of.entry};
    const Expr bits = in.bias_16(element);
    const Expr f16 = widen(reinterpret<float16_t>(bits), Bf16::as_casts),
               bf16 = widen(reinterpret<bfloat16_t>(bits), Bf16::as_casts);
    return cuda::choose(in.has_f32_bias, in.bias_f32(element),
                        cuda::choose(in.has_f16_bias, f16, cuda::choose(in.has_bf16_bias, bf16, Expr(0.0f))));
}

Expr kept_share(const Scoring &in, const Pair &of) {
    Dropout dropout = in.dropout;
    dropout.head = (in.first_entry + of.sequence) * in.heads + of.head;
    dropout.first_row = dropout.first_key = 0;
    const auto words = dropout_words(dropout, of.query, of.key / keys_of_draw);
    const Expr word = mux(of.key % keys_of_draw, {words[0], words[1], words[2], words[3]});
    const Expr kept = cuda::opaque_select(word < dropout.threshold, 0.0f, dropout.keep_scale);
    return cuda::choose(dropout.threshold != 0, kept, 1.0f);
}

} // namespace

Score score_of(const Scoring &in, const Expr &scaled, const Pair &of) {
    const Expr is_capped = in.softcap > 0.0f;
    const Tuple capped = bent(scaled * cuda::choose(is_capped, ln_2 / in.softcap, 0.0f));
    const Expr slope = cuda::choose(in.has_alibi, in.alibi(of.head) * log2_e, 0.0f);
    const Expr bias = bias_of(in, of);
    const Expr sum =
        select(is_capped, in.softcap * log2_e * capped[0], scaled) + slope * cast<float>(of.distance) + bias * log2_e;
    return {cuda::opaque_select(sum < attention::least_score, attention::least_score, sum),
            select(is_capped, capped[1], 1.0f), reinterpret<uint32_t>(bias) == Expr(0xff800000u), kept_share(in, of)};
}

} // namespace gyre::gradients
