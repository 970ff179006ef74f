/// The weights that attention gives to values: what a fused kernel never stores. For debugging and for pictures.
#pragma once

#include "files/array.h"
#include "options/library_errors.h"

#include <gyre/gyre.h>

namespace gyre::cli {

/// [batch, num_heads, seqlen_q, seqlen_kv], f32, whatever the layout of q: the softmax of the scores, before dropout. They
/// are the results of one call of gyre_attention() for every head_dim keys, whose values are 1 in one feature and 0 in
/// all others; so they have the precision of the type in which the kernel writes. `args`: of a call that succeeded; not
/// packed, no page table. Throws UsageError if they do not fit into memory.
Array attention_probabilities(gyre_context *context, const gyre_attention_args &args, const ArgumentNames &names);

} // namespace gyre::cli
