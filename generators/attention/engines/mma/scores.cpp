#include "scores.h"

#include "attention/recurrence/scores.h"
#include "math/storage.h"
#include "passes/cuda/primitives.h"
#include "passes/cuda/tanh.h"

namespace gyre::attention {
using namespace Halide;

CudaHead cuda_head(const CudaScoring &in, const Var &h, bool folded) {
    CudaHead head{Func("of_head"), in, h};
    const Expr sink = folded ? Expr(masked_score) : cuda::choose(in.has_sinks, in.sinks(h) * log2_e, masked_score);
    head.numbers(h) =
        Tuple(folded ? Expr(0.0f) : head.slope(h), sink, cuda::choose(in.softcap > 0.0f, 1.0f / in.softcap, 0.0f));
    return head;
}

Expr CudaHead::slope(const Expr &of) const { return cuda::choose(in.has_alibi, in.alibi(of) * log2_e, 0.0f); }

// A comparison with what is no number but infinite is the device's, which keeps to IEEE 754.
std::vector<CudaHead::Change> CudaHead::changes() const {
    const CudaScoring from = in;
    const auto within = [from](std::vector<Expr> element) {
        element[0] = unsafe_promise_clamped(element[0], 0, from.keys - 1);
        element[1] = unsafe_promise_clamped(element[1], 0, from.queries - 1);
        return element;
    };
    const auto biased = [&](const Expr &where, const std::function<Expr(const std::vector<Expr> &)> &bias) {
        return Change{where, [=](const Expr &score, const Place &place) {
                          const Expr added = bias(within(place.element)), sum = score + added * log2_e;
                          Expr masks = reinterpret<uint32_t>(added) == Expr(0xff800000u);
                          if (from.score) masks = masks || is_masked(score);                          // by the function
                          const Expr kept = cuda::opaque_select(sum < least_score, least_score, sum); // NaN, too
                          return cuda::opaque_select(masks, masked_score, kept);
                      }};
    };
    const auto bits = [from](const std::vector<Expr> &element) { return from.bias_16(element); };
    const Change capped{in.softcap > 0.0f, [*this](const Expr &score, const Place &) {
                            return in.softcap * cuda::tanh_approx(score * numbers(h)[2])[0];
                        }};
    const Change by_distance{in.has_alibi, [from](const Expr &score, const Place &place) {
                                 const Expr sum = score + place.slope * cast<float>(place.distance);
                                 return from.score ? cuda::opaque_select(is_masked(score), masked_score, sum) : sum;
                             }};
    const Change scored{Internal::const_true(), [from](const Expr &score, const Place &place) {
                            ScorePoint point = place.point;
                            point.score = score * ln_2;
                            const Expr value = from.score(point, place.part);
                            return cuda::opaque_select(value <= masked, masked_score, value * log2_e);
                        }};
    std::vector<Change> all{capped};
    if (in.score) all.push_back(scored);
    const std::vector<Change> others{
        by_distance,
        biased(in.has_f32_bias, [from](const std::vector<Expr> &element) { return from.bias_f32(element); }),
        biased(in.has_f16_bias,
               [=](const std::vector<Expr> &element) {
                   return widen(reinterpret<float16_t>(bits(element)), Bf16::as_casts);
               }),
        biased(in.has_bf16_bias,
               [=](const std::vector<Expr> &element) {
                   return widen(reinterpret<bfloat16_t>(bits(element)), Bf16::as_casts);
               }),
        {from.has_mask, [=](const Expr &score, const Place &place) {
             return cuda::opaque_select(from.mask(within(place.element)) != 0, score, masked_score);
         }}};
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

Tuple CudaHead::with_sink(const Expr &maximum, const Expr &sum, const Expr &h) const {
    const Expr sink = numbers(h)[1], top = max(maximum, sink), share = cuda::exp2_approx(maximum - top);
    return {sum * share + cuda::choose(in.has_sinks, cuda::exp2_approx(sink - top), 0.0f), share, top};
}

} // namespace gyre::attention
