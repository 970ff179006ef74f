/// What else than scale and edges changes scores and their sums: softcap, ALiBi, sinks. WHAT is computed.
///
/// Scores are in units of log2(e) here, so that exponentials are powers of two.
#pragma once
#include <Halide.h>

namespace gyre::attention {

struct CudaScoring {
    Halide::Expr softcap;              // 0: none
    Halide::Func alibi, sinks;         // (h)  natural
    Halide::Expr has_alibi, has_sinks; // bool
};

struct CudaHead {
    Halide::Func numbers; // (h)  {slope, sink}
    CudaScoring in;

    /// A scaled score with cap and ALiBi; `distance`: pos_k - pos_q.
    Halide::Expr score(const Halide::Expr &scaled, const Halide::Expr &h, const Halide::Expr &distance) const;

    /// {sum, share}: of a row whose powers relative to `maximum` add up to `sum`, with the sink; what that leaves of each.
    /// And what the sum is relative to.
    Halide::Tuple with_sink(const Halide::Expr &maximum, const Halide::Expr &sum, const Halide::Expr &h) const;
};

CudaHead cuda_head(const CudaScoring &in, const Halide::Var &h);

} // namespace gyre::attention
