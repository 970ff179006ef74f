/// How much an operation has to do: the numerators of GFLOP/s and GB/s.
#pragma once

#include <gyre/gyre.h>

namespace gyre::cli {

struct WorkDone {
    double flops = 0; // of f32 arithmetic, a multiply-add counts as two
    double bytes = 0; // read and written at least
};

/// Three operations for each rotated feature; x read and out written.
WorkDone work_of(const gyre_rotary_args &args);

/// Both products, for pairs of a query and a key that causal, window and lengths leave visible; q, k and v read and out
/// written. A mask or a bias hides nothing here, because no kernel can skip what it has to look at.
WorkDone work_of(const gyre_attention_args &args);

/// Two products of head_dim and v_head_dim: of every key with its value, and of every query with the state; q, k and v read and
/// out written. What causal calls do beside that within chunks is not counted.
WorkDone work_of(const gyre_linear_attention_args &args);

} // namespace gyre::cli
