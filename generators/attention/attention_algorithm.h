/// Fused attention with rotary and reverse-rotary embedding: WHAT is computed. No scheduling call may appear here.
///
///     S_ij = scale < R(i) q_i, R(j) k_j >      softmax over the visible j      out_i = R(-i) sum_j P_ij R(j) v_j
///
/// Online softmax over blocks of keys (Dao et al., FlashAttention, arXiv:2205.14135): a block's scores are formed,
/// reduced to their maximum and sum, weighted with the values, and folded into the state (accumulator, maximum, sum).
/// An engine computes the two products, and says what they take (engines/recurrence_engine.h); a provider delivers keys and values
/// (providers/provider.h). The recurrence is the same for all (recurrence/blocks.h).
#pragma once
#include "engines/recurrence_engine.h"

namespace gyre::attention {

/// Defines `out` (stored as `type`) and `lse` (f32, natural logarithm), and the engine's stages.
void algorithm(RecurrenceEngine &engine, const Inputs &in, const Halide::Func &out, const Halide::Func &lse,
               const Halide::Type &type);

} // namespace gyre::attention
