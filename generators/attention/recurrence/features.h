/// How many features the loops of a kernel run over. A kernel for one head size knows it when it is compiled. A padded kernel serves all
/// sizes up to its own: storage has places for the largest, and loops run over the call's features, in whole steps.
#pragma once
#include "stages.h"

namespace gyre::attention {

/// The number of features that a call has, at most `most`, rounded up to whole steps.
inline Halide::Expr features_in_steps(int step, const Halide::Expr &of_call, int most) {
    return Halide::unsafe_promise_clamped((of_call + (step - 1)) / step, 1, most / step) * step;
}

/// True if how many features loops run over is known at run time alone.
inline bool counts_features(const Stages &s) { return !Halide::Internal::is_const(s.k_features); }

} // namespace gyre::attention
