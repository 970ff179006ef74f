/// What else than the scale changes scores, and which probabilities are dropped, in general kernels of gradients: WHAT is computed.
///
///     S = c tanh(S' / c) + slope distance + bias      with the cap c, if there is one; S' = scale <q, k>
///     dS' = (1 - tanh(S' / c)^2) P (D <do, v> - delta)      dv adds D P; D: 0 for what is dropped, else 1 / (1 - probability)
///
/// As attention/engines/mma/scores.h has them. A bias of -inf masks.
#pragma once
#include "common/dropout.h"

namespace gyre::gradients {

struct Scoring {
    Halide::Expr softcap;                                   // natural; 0: none
    Halide::Func alibi;                                     // (h)
    Halide::Expr has_alibi;                                 // bool
    Halide::Expr has_f32_bias, has_f16_bias, has_bf16_bias; // bool: one of these, or none
    Halide::Func bias_f32, bias_16;                         // (key, query, h, z)  natural; of 16 bits as their bits
    Halide::Expr queries, keys, heads;                      // of the tensors
    Halide::Expr first_entry;                               // of the batch, that is entry 0 here
    Dropout dropout;                                        // but for its head; threshold 0: nothing is dropped

    /// True if a bias may mask.
    Halide::Expr may_mask() const { return has_f32_bias || has_f16_bias || has_bf16_bias; }
};

/// A query and a key, within the tensors.
struct Pair {
    Halide::Expr query, key, head, entry;
    Halide::Expr sequence; // that they are of
    Halide::Expr distance; // from the query to the key
};

/// In units of log2(e).
struct Score {
    Halide::Expr value;
    Halide::Expr slope;  // by which the cap multiplies gradients
    Halide::Expr masked; // bool
    Halide::Expr kept;   // D
};

/// `scaled`: the scaled product, in units of log2(e).
Score score_of(const Scoring &in, const Halide::Expr &scaled, const Pair &of);

} // namespace gyre::gradients
