/// Batch entries of short sequences as heads of one sequence.
#pragma once
#include "attention/call/call.h"

namespace gyre {

/// Makes one sequence with all heads of a checked call's batch, where its tensors lie so that this is the same call, few queries see few keys, and
/// nothing of it tells one sequence from another. A task then takes rows of several sequences (choose_task_key_heads()). Bits do not depend on
/// it: sequences of so few keys take the same kernel and are one part, whatever the number of key heads.
void take_batch_as_heads(AttentionCall *call);

} // namespace gyre
