/// What else than scale and edges changes scores and their sums: softcap, ALiBi, bias, mask, sinks. WHAT is computed.
///
/// Scores are in units of log2(e) here, so that exponentials are powers of two.
#pragma once
#include "attention/score.h"

#include <Halide.h>

#include <functional>
#include <vector>

namespace gyre::attention {

struct CudaScoring {
    Halide::Expr softcap;              // 0: none
    Halide::Func alibi, sinks;         // (h)  natural
    Halide::Expr has_alibi, has_sinks; // bool
    // One of these, or none: conditions of their own, so that Halide makes no "else" of them.
    Halide::Expr has_f32_bias, has_f16_bias, has_bf16_bias; // bool
    Halide::Func bias_f32, bias_16;                         // (key, query, h, z)  natural; of 16 bits as their bits
    Halide::Func mask;                                      // (key, query, h, z)  0: masked
    Halide::Expr has_mask;                                  // bool
    Halide::Expr queries, keys;                             // that biases and masks are of
    /// A user's function; empty: none.
    std::function<Halide::Expr(const ScorePoint &, const ScoreInputs::Part &)> score{};
};

struct CudaHead {
    Halide::Func
        numbers; // (h)  {slope, sink, 1 / softcap}; of folded rows, whose heads are several, neither slope nor sink
    CudaScoring in;
    Halide::Var h;

    /// The slope of query head `of`, 0 without ALiBi.
    Halide::Expr slope(const Halide::Expr &of) const;

    /// Where a score stands.
    struct Place {
        std::vector<Halide::Expr> element; // {key, query, query head, z} within the tensors
        Halide::Expr distance;             // pos_k - pos_q
        Halide::Expr slope;                // of the row
        ScorePoint point;                  // as a user's function sees it, without the score
        ScoreInputs::Part part;            // of its tensors
    };
    /// What changes a score where a condition holds, the same for all scores of a call.
    struct Change {
        Halide::Expr where;
        std::function<Halide::Expr(const Halide::Expr &score, const Place &place)> changed;
    };
    /// The changes of a scaled score in their order: the cap, a user's function, ALiBi, a bias of each type, a mask.
    std::vector<Change> changes() const;

    /// True if any of these may mask.
    Halide::Expr may_mask() const {
        if (in.score) return Halide::Internal::const_true();
        return in.has_f32_bias || in.has_f16_bias || in.has_bf16_bias || in.has_mask;
    }

    /// {sum, share, maximum} of a row whose powers relative to `maximum` add up to `sum`, once the sink has joined: the sum with it,
    /// what that leaves of each power, and what the sum is relative to.
    Halide::Tuple with_sink(const Halide::Expr &maximum, const Halide::Expr &sum, const Halide::Expr &h) const;
};

CudaHead cuda_head(const CudaScoring &in, const Halide::Var &h, bool folded);

} // namespace gyre::attention
