#include "cuda_scores.h"

#include "../common/storage.h"
#include "../cuda/primitives.h"
#include "attention_algorithm.h"

namespace gyre::attention {
using namespace Halide;

CudaHead cuda_head(const CudaScoring &in, const Var &h) {
    CudaHead head{Func("of_head"), in};
    head.numbers(h) = Tuple(cuda::choose(in.has_alibi, in.alibi(h) * log2_e, 0.0f),
                            cuda::choose(in.has_sinks, in.sinks(h) * log2_e, masked_score));
    return head;
}

Expr CudaHead::score(const Expr &scaled, const Expr &h, const Expr &distance) const {
    // tanh x = 1 - 2 / (1 + e^2x), which overflows to what it should; near 0, where that loses bits, its Taylor series.
    const Expr x = scaled / in.softcap, square = x * x;
    const Expr large = 1.0f - 2.0f / (1.0f + cuda::exp2_approx(x * (2 * log2_e)));
    const Expr small = x * (1.0f - square * (1.0f / 3 - square * (2.0f / 15)));
    const Expr tanh = select(square < 0.01f, small, large);
    return cuda::choose(in.softcap > 0.0f, in.softcap * tanh, scaled) + numbers(h)[0] * cast<float>(distance);
}

Tuple CudaHead::with_sink(const Expr &maximum, const Expr &sum, const Expr &h) const {
    const Expr sink = numbers(h)[1], top = max(maximum, sink), share = cuda::exp2_approx(maximum - top);
    return {sum * share + cuda::choose(in.has_sinks, cuda::exp2_approx(sink - top), 0.0f), share, top};
}

} // namespace gyre::attention
